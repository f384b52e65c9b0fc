// The lock is reached by a pointer that a condition decides.
#include "twin.h"

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int counter;

static void* body(void* argument) {
  pthread_mutex_t* mine = &locks[RACY ? (long)argument : 0];
  pthread_mutex_lock(mine);
  counter++;  // RACE
  pthread_mutex_unlock(mine);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
