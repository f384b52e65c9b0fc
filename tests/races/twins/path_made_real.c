// Two threads have a path written to one buffer.
#include <limits.h>
#include <stdlib.h>

#include "twin.h"

static char path[PATH_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (!realpath("/", path)) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(path[0]);
  return 0;
}
