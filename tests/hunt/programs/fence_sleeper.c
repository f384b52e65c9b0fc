// A consumer says that it sleeps, and looks once more for work; a producer leaves work, and looks
// whether the consumer sleeps. Both may look too early, and nobody wakes the consumer.
#include <semaphore.h>

#include "fence.h"

static int sleeping, work;
static sem_t wake;

static void* consume(void* unused) {
  STORE(sleeping, 1);
  FENCE();
  if (!LOAD(work)) sem_wait(&wake);
  return unused;
}

static void* produce(void* unused) {
  STORE(work, 1);
  FENCE();
  if (LOAD(sleeping)) sem_post(&wake);
  return unused;
}

int main(void) {
  sem_init(&wake, 0, 0);
  RUN(consume, produce);
  return 0;
}
