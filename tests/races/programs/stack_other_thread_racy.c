// A thread publishes the address of its local by a semaphore, and goes on writing the local while the other reads it.
#include "program.h"

sem_t offered, looked;
int* offer;
static void* owner(void* unused) {
  int local[4] = {1, 2, 3, 4};
  offer = local;
  sem_post(&offered);
  for (int i = 0; i < 4; ++i) local[i] = -i;  // RACE
  use(local[2]);
  sem_wait(&looked);
  return unused;
}

static void* visitor(void* unused) {
  sem_wait(&offered);
  for (int i = 0; i < 4; ++i) use(offer[i]);  // RACE
  sem_post(&looked);
  return unused;
}

int main(void) {
  sem_init(&offered, 0, 0);
  sem_init(&looked, 0, 0);
  run_two(owner, visitor);
  return 0;
}
