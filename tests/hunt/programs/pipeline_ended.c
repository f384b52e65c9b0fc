// Stages with a queue each. The last stage ends when the stage before says that it has ended, and
// looks into its queue before, not after.
#include "planted.h"

enum { kItems = 3 };
static volatile int queue[kItems], put, got, has_ended;

static void* segment(void* unused) {
  for (int i = 0; i < kItems; i++) {
    lock();
    queue[put] = i + 1;
    put++;
    unlock();
  }
  lock();
  has_ended = 1;
  unlock();
  return unused;
}

static void* rank(void* unused) {
  int sum = 0;
  for (;;) {
    lock();
    const int is_empty = got == put;
    if (!is_empty) sum += queue[got++];
    BUG(unlock();)
    BUG(lock();)
    const int is_over = is_empty && has_ended;
    unlock();
    if (is_over) break;
  }
  REQUIRE(sum == kItems * (kItems + 1) / 2);
  return unused;
}

int main(void) {
  RUN(segment, rank);
  return 0;
}
