// Two threads have results of joins written to one variable.
#include "twin.h"

static void* result;
static void* nothing(void* unused) { return unused; }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) != 0) abort();
  if (pthread_join(thread, &result) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use((long)result);
  return 0;
}
