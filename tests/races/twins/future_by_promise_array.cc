// Results lie in an array; a future says that they are there, and the racy one says so too early.
#include <future>

#include "twin.h"

static int results[4];
static std::promise<void> ready;

static void* compute(void* unused) {
  if (RACY) ready.set_value();
  for (int i = 0; i < 4; ++i) results[i] = i * i;  // RACE
  if (!RACY) ready.set_value();
  return unused;
}

static void* show(void* unused) {
  ready.get_future().wait();
  use(results[1] + results[3]);  // RACE
  return unused;
}

int main() {
  run_two(compute, show);
  return 0;
}
