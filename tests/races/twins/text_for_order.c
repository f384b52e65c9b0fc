// Two threads have a text made for comparison, in one place.
#include <string.h>

#include "twin.h"

static char to[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (strxfrm(to, "text", sizeof to) > 31) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(to[0]);
  return 0;
}
