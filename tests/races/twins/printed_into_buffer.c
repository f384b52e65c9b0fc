// Two threads format their numbers into one buffer of the program's.
#include "twin.h"

static char line[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  snprintf(line, sizeof line, "thread %ld", (long)number);  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(line[3]);
  return 0;
}
