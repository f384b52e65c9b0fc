// Indices are given out by a load and a store, not by one atomic addition: two threads get the same slot.
#include "program.h"

int next, slots[400];
pthread_barrier_t barrier;
static void* body(void* unused) {
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 200; ++i) {
    int index = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (i % 10 == 0) usleep(50);
    __atomic_store_n(&next, index + 1, __ATOMIC_RELAXED);
    slots[index] = i;  // RACE
  }
  return unused;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 2);
  run_two(body, body);
  return 0;
}
