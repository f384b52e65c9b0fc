// Each thread sums its slice, and then reads the other's sum without a barrier in between.
#include "program.h"

pthread_barrier_t barrier;
long sums[2];
static void* body(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 100; ++i) sums[number] += i, use(i);  // RACE
  use(sums[!number]);                                       // RACE
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  int numbers[2] = {0, 1};
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t one = start(body, &numbers[0]), two = start(body, &numbers[1]);
  join(one);
  join(two);
  pthread_barrier_destroy(&barrier);
  return 0;
}
