// Two threads ask for a semaphore's value, into one variable.
#include "twin.h"

static sem_t semaphore;
static int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (sem_getvalue(&semaphore, &value) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(value);
  return 0;
}
