// main reads what a detached thread has written after a pause, which orders nothing.
#include "program.h"

sem_t done;
int result;
static void* body(void* unused) {
  pthread_detach(pthread_self());
  result = 42;  // RACE
  sem_post(&done);
  return unused;
}

int main(void) {
  sem_init(&done, 0, 0);
  start(body, NULL);
  pause_ms(5);
  use(result);  // RACE
  sem_wait(&done);
  return 0;
}
