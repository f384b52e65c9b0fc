// The flag is stored with release and loaded with acquire by __atomic builtins on a plain int.
#include "program.h"

int ready, data;
static void* consumer(void* unused) {
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) usleep(100);
  use(data);
  return unused;
}

static void* producer(void* unused) {
  data = 42;
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
