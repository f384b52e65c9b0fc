// An atomic object of 32 bytes, kept by locks inside libatomic, hands a payload over; racy: before it is filled in.
#include "twin.h"

#include <atomic>

struct Four {
  long a, b, c, d;
};
static std::atomic<Four> shared{Four{}};
static int payload;

static void* producer(void*) {
  if (!RACY) payload = 3;
  shared.store(Four{1, 2, 3, 4});
  if (RACY) payload = 3;  // RACE
  return nullptr;
}

static void* consumer(void*) {
  while (shared.load().d != 4) sched_yield();
  if (RACY) pause_ms(10);
  use(payload);  // RACE
  return nullptr;
}

int main() {
  run_two(producer, consumer);
  return 0;
}
