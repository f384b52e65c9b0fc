// The C11 flag is stored and loaded relaxed: it does not order the data.
#include "program.h"

#include <stdatomic.h>

_Atomic int ready;
int data;
static void* consumer(void* unused) {
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) usleep(100);
  use(data);  // RACE
  return unused;
}

static void* producer(void* unused) {
  pause_ms(1);
  data = 42;  // RACE
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
