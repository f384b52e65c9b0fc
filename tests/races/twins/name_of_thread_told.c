// Two threads have a name written to one text.
#define _GNU_SOURCE 1
#include <pthread.h>

#include "twin.h"

static char name[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(name[0]);
  return 0;
}
