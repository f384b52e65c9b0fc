// volatile is no synchronization: the flag and the data race.
#include "program.h"

volatile int ready;
int data[4];
static void* consumer(void* unused) {
  for (int i = 0; i < 100 && !ready; ++i) usleep(100);  // RACE
  use(data[1]);                                         // RACE
  return unused;
}

static void* producer(void* unused) {
  pause_ms(1);
  data[1] = 4;  // RACE
  ready = 1;    // RACE
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
