// scoped_lock takes both locks of a pair; the racy reader takes the other one only.
#include <mutex>

#include "twin.h"

static std::mutex left, right;
static int pair[2];

static void* write(void* unused) {
  const std::scoped_lock lock(left);
  pair[0] = 1, pair[1] = 2;  // RACE
  return unused;
}

static void* read(void* unused) {
  const std::lock_guard<std::mutex> lock(RACY ? right : left);
  use(pair[0] + pair[1]);  // RACE
  return unused;
}

int main() {
  run_two(write, read);
  return 0;
}
