// Main waits for what a detached thread computes by sleeping, or by a semaphore.
#include "twin.h"

static sem_t done;
static long result;

static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) result += i;  // RACE
  sem_post(&done);
  return unused;
}

int main(void) {
  sem_init(&done, 0, 0);
  pthread_detach(start(body, NULL));
  if (RACY) pause_ms(30);
  else sem_wait(&done);
  use(result);  // RACE
  return 0;
}
