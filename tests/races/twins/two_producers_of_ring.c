// A ring for one producer and one consumer is filled by two producers, or by one.
#include <stdatomic.h>

#include "twin.h"

enum { kCells = 64 };
static int cells[kCells];
static long head;  // of the producer
static atomic_long filled, taken;

static void put(int value) {
  while (head - atomic_load(&taken) >= kCells) sched_yield();
  cells[head % kCells] = value;  // RACE
  head++;                        // RACE
  atomic_fetch_add_explicit(&filled, 1, memory_order_release);
}

static void* producer(void* number) {
  const int count = RACY ? 10 : (long)number == 0 ? 20 : 0;
  for (int i = 0; i < count; ++i) put(i);
  return NULL;
}

static void* consumer(void* unused) {
  for (long at = 0; at < 20; ++at) {
    while (atomic_load_explicit(&filled, memory_order_acquire) <= at) sched_yield();
    use(cells[at % kCells]);  // RACE
    atomic_fetch_add(&taken, 1);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3] = {start(producer, (void*)0), start(producer, (void*)1),
                          start(consumer, NULL)};
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
