// A thread counts in main's own copy of a thread-local variable.
#include "twin.h"

static __thread int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  int* of_main = (int*)argument;
  guard(&mutex);
  *of_main = *of_main + 1;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread = start(body, &counter);
  guard(&mutex);
  counter = counter + 1;  // RACE
  unguard(&mutex);
  join(thread);
  return 0;
}
