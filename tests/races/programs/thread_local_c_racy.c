// A thread hands out the address of its __thread variable, and the other one writes there.
#include "program.h"

__thread long mine;
sem_t offered, done;
long* offer;
static void* first(void* unused) {
  offer = &mine;
  sem_post(&offered);
  for (int i = 0; i < 100; ++i) mine += i, use(mine);  // RACE
  sem_wait(&done);
  return unused;
}

static void* second(void* unused) {
  sem_wait(&offered);
  for (int i = 0; i < 100; ++i) *offer += i, use(i);  // RACE
  sem_post(&done);
  return unused;
}

int main(void) {
  sem_init(&offered, 0, 0);
  sem_init(&done, 0, 0);
  run_two(first, second);
  return 0;
}
