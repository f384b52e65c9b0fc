// Two threads have the name of the machine written to one text.
#define _GNU_SOURCE 1
#include <unistd.h>

#include "twin.h"

static char name[256];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (gethostname(name, sizeof name) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(name[0]);
  return 0;
}
