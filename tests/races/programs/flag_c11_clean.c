// The C11 flag is stored and loaded with sequential consistency, which orders the data.
#include "program.h"

#include <stdatomic.h>

_Atomic int ready;
int data;
static void* consumer(void* unused) {
  while (!atomic_load(&ready)) usleep(100);
  use(data);
  return unused;
}

static void* producer(void* unused) {
  pause_ms(1);
  data = 42;
  atomic_store(&ready, 1);
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
