// The flag is volatile and atomic as well, with release and acquire.
#include "program.h"

_Atomic volatile int ready;
int data[4];
static void* consumer(void* unused) {
  while (!ready) usleep(100);
  use(data[1]);
  return unused;
}

static void* producer(void* unused) {
  pause_ms(1);
  data[1] = 4;
  ready = 1;
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
