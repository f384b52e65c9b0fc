// Two threads let the kernel fill one buffer.
#include <sys/random.h>

#include "twin.h"

static char bytes[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  guard(&mutex);
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) abort();  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(bytes[7]);
  return 0;
}
