// A semaphore is posted only if somebody is known to wait, and one says so a moment too late.
#include <semaphore.h>

#include "planted.h"

static sem_t wake;
static volatile int is_waiting, is_done;

static void* sleeper(void* unused) {
  FIX(lock();)
  if (!is_done) {
    is_waiting = 1;
    FIX(unlock();)
    sem_wait(&wake);
    return unused;
  }
  FIX(unlock();)
  return unused;
}

static void* waker(void* unused) {
  FIX(lock();)
  is_done = 1;
  if (is_waiting) sem_post(&wake);
  FIX(unlock();)
  return unused;
}

int main(void) {
  sem_init(&wake, 0, 0);
  RUN(sleeper, waker);
  return 0;
}
