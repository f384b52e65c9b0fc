// Two threads have bytes swapped into one place.
#define _GNU_SOURCE 1
#include <unistd.h>

#include "twin.h"

static char to[8];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  swab("abcdefg", to, 6);  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(to[0]);
  return 0;
}
