// A set of signals is changed while another thread blocks it.
#include <signal.h>

#include "twin.h"

static sigset_t blocked;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (pthread_sigmask(SIG_BLOCK, &blocked, NULL) != 0) abort();  // RACE
  } else {
    sigaddset(&blocked, SIGUSR1);  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
