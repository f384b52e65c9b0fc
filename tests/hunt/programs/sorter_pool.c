// Sorting by threads that lie idle until one hands them a part: the one that hands over looks for
// an idle one without its lock, and two hand to the same.
#include "planted.h"

enum { kHelpers = 2, kElements = 8 };
enum State { kIdle, kGiven };
struct Helper {
  volatile enum State state;
  volatile int from, count;
};
static struct Helper helpers[kHelpers];
static volatile int handled[kElements];

static void hand_over(int from, int count) {
  for (int i = 0; i < kHelpers; i++) {
    FIX(lock();)
    if (helpers[i].state == kIdle) {
      helpers[i].state = kGiven;
      helpers[i].from = from;
      helpers[i].count = count;
      FIX(unlock();)
      return;
    }
    FIX(unlock();)
  }
  for (int i = 0; i < count; i++) handled[from + i] = 1;
}

static void* sort_half(void* number) {
  hand_over((int)(long)number * 4, 4);
  return NULL;
}

int main(void) {
  RUN(sort_half, sort_half);
  for (int i = 0; i < kHelpers; i++) {
    if (helpers[i].state != kGiven) continue;
    for (int k = 0; k < helpers[i].count; k++) handled[helpers[i].from + k] = 1;
  }
  for (int i = 0; i < kElements; i++) REQUIRE(handled[i]);
  return 0;
}
