// Two threads have the time written to one variable.
#include <time.h>

#include "twin.h"

static time_t now;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (time(&now) < 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use((long)now);
  return 0;
}
