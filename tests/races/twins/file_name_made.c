// Two threads have a name made of one pattern.
#define _GNU_SOURCE 1
#include <stdlib.h>

#include "twin.h"

static char name[] = "/tmp/weir-XXXXXX";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  memcpy(name + sizeof name - 7, "XXXXXX", 6);  // RACE
  const int file = mkostemp(name, 0);           // RACE
  if (file >= 0) close(file), unlink(name);     // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(name[10]);
  return 0;
}
