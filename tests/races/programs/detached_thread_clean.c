// main reads what a detached thread has written after a semaphore that it posts last.
#include "program.h"

sem_t done;
int result;
static void* body(void* unused) {
  pthread_detach(pthread_self());
  result = 42;
  sem_post(&done);
  return unused;
}

int main(void) {
  sem_init(&done, 0, 0);
  start(body, NULL);
  sem_wait(&done);
  use(result);
  return 0;
}
