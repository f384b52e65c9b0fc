// Each of three takes two of three permits, one by one: all have one, and wait.
#include <semaphore.h>
#include "planted.h"

static sem_t permits;

static void* work(void* unused) {
  FIX(lock();)
  sem_wait(&permits);
  sem_wait(&permits);
  FIX(unlock();)
  sem_post(&permits);
  sem_post(&permits);
  return unused;
}

int main(void) {
  sem_init(&permits, 0, 3);
  RUN(work, work, work);
  return 0;
}
