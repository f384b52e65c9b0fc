// Two threads let the old mask of signals be written to one variable.
#include <signal.h>

#include "twin.h"

static sigset_t old;

static void* body(void* unused) {
  sigset_t blocked, own;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  if (pthread_sigmask(SIG_BLOCK, &blocked, RACY ? &old : &own) != 0) abort();  // RACE
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(sigismember(&old, SIGUSR1));
  return 0;
}
