// A named semaphore, opened twice; the racy thread posts early.
#include <fcntl.h>

#include "twin.h"

static char name[32];
static int data;

static void* body(void* unused) {
  sem_t* semaphore = sem_open(name, 0);
  if (semaphore == SEM_FAILED) abort();
  if (!RACY) data = 2;
  sem_post(semaphore);
  if (RACY) data = 3;  // RACE
  sem_close(semaphore);
  return unused;
}

int main(void) {
  snprintf(name, sizeof name, "/weir_twin_%d", (int)getpid());
  sem_t* semaphore = sem_open(name, O_CREAT, 0600, 0);
  if (semaphore == SEM_FAILED) abort();
  pthread_t thread = start(body, NULL);
  sem_wait(semaphore);
  use(data);  // RACE
  join(thread);
  sem_close(semaphore);
  sem_unlink(name);
  return 0;
}
