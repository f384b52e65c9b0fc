// Main counts in a variable of its stack, which a thread counts in as well.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  int* count = argument;
  for (int i = 0; i < 10; ++i) {
    guard(&mutex);
    ++*count;  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  int count = 0;
  pthread_t thread = start(body, &count);
  for (int i = 0; i < 10; ++i) {
    guard(&mutex);
    ++count;  // RACE
    unguard(&mutex);
  }
  join(thread);
  use(count);
  return 0;
}
