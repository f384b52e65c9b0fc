// An ad-hoc flag that is a plain int: the flag races, and so does what it is to announce.
#include "program.h"

int ready, data;
static void* consumer(void* unused) {
  for (int i = 0; i < 100 && !ready; ++i) usleep(100);  // RACE
  use(data);                                            // RACE
  return unused;
}

static void* producer(void* unused) {
  data = 42;  // RACE
  ready = 1;  // RACE
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
