// The argument of a thread is freed when the thread has said that it has begun; it has not yet read
// it.
#include <semaphore.h>

#include "planted.h"

struct Argument {
  int number;
};
static sem_t has_begun;

static void* work(void* argument) {
  const struct Argument* const mine = argument;
  BUG(sem_post(&has_begun);)
  REQUIRE(mine->number == 3);
  FIX(sem_post(&has_begun);)
  return NULL;
}

int main(void) {
  struct Argument* const argument = malloc(sizeof *argument);
  argument->number = 3;
  sem_init(&has_begun, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, work, argument);
  sem_wait(&has_begun);
  free(argument);
  pthread_join(thread, NULL);
  return 0;
}
