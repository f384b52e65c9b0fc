// Parallel quicksort: who finds the queue empty and all others idle ends. A worker counts as idle
// while it still holds a part whose halves it has not queued.
#include "planted.h"

enum { kWorkers = 3, kLength = 8 };
static int values[kLength] = {5, 2, 7, 1, 8, 3, 6, 4};
static struct { int from, to; } queue[64];
static int queued, idle = kWorkers;

static void put(int from, int to) {
  lock();
  queue[queued].from = from;
  queue[queued++].to = to;
  unlock();
}

static int partition(int from, int to) {
  int at = from;
  for (int i = from; i < to - 1; i++) {
    if (values[i] >= values[to - 1]) continue;
    const int value = values[i];
    values[i] = values[at];
    values[at++] = value;
  }
  const int value = values[to - 1];
  values[to - 1] = values[at];
  values[at] = value;
  return at;
}

static void* sort(void* unused) {
  for (;;) {
    lock();
    if (!queued) {
      const int is_over = idle == kWorkers;
      unlock();
      if (is_over) return unused;
      sched_yield();
      continue;
    }
    const int from = queue[--queued].from, to = queue[queued].to;
    FIX(idle--;)
    unlock();
    BUG(lock(); idle--; unlock();)
    if (to - from > 1) {
      const int middle = partition(from, to);
      put(from, middle);
      put(middle + 1, to);
    }
    lock();
    idle++;
    unlock();
  }
}

static void* sort_one(void* unused) {
  sort(unused);
  lock();
  const int is_idle = idle == kWorkers && !queued;
  unlock();
  REQUIRE(is_idle);
  return unused;
}

int main(void) {
  put(0, kLength);
  run_many(kWorkers, sort_one, 0, NULL);
  for (int i = 0; i < kLength; i++) REQUIRE(values[i] == i + 1);
  return 0;
}
