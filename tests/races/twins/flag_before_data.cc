// The atomic flag is set before the data is stored.
#include <atomic>

#include "twin.h"

static std::atomic<bool> is_ready;
static int data;

static void* produce(void*) {
  if (!RACY) data = 42;
  is_ready.store(true);
  if (RACY) {
    pause_ms(3);
    data = 42;  // RACE
  }
  return nullptr;
}

static void* consume(void*) {
  while (!is_ready.load()) sched_yield();
  use(data);  // RACE
  return nullptr;
}

int main() {
  run_two(produce, consume);
  return 0;
}
