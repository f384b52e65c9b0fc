// Two threads let the old action of a signal be written to one variable.
#include <signal.h>

#include "twin.h"

static struct sigaction old;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (sigaction(SIGUSR2, NULL, &old) != 0) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(old.sa_flags);
  return 0;
}
