// Main's variable is counted up by main and by a thread that has its address.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  int* counter = (int*)argument;
  guard(&mutex);
  (*counter)++;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  int local = 0;
  pthread_t thread = start(body, &local);
  pthread_mutex_lock(&mutex);
  local++;  // RACE
  pthread_mutex_unlock(&mutex);
  join(thread);
  use(local);
  return 0;
}
