// A thread publishes the address of its local by a semaphore, and waits for another semaphore before it writes it
// again.
#include "program.h"

sem_t offered, looked;
int* offer;
static void* owner(void* unused) {
  int local[4] = {1, 2, 3, 4};
  offer = local;
  sem_post(&offered);
  sem_wait(&looked);
  for (int i = 0; i < 4; ++i) local[i] = -i;
  use(local[2]);
  return unused;
}

static void* visitor(void* unused) {
  sem_wait(&offered);
  for (int i = 0; i < 4; ++i) use(offer[i]);
  sem_post(&looked);
  return unused;
}

int main(void) {
  sem_init(&offered, 0, 0);
  sem_init(&looked, 0, 0);
  run_two(owner, visitor);
  return 0;
}
