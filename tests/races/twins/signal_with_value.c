// A thread waits for a queued signal before it reads what the sender stored.
#include <signal.h>

#include "twin.h"

static int value;
static pthread_t waiter;

static void* await(void* unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  siginfo_t said;
  if (RACY) use(value);  // RACE
  if (sigwaitinfo(&set, &said) != SIGUSR1) abort();
  use(value + said.si_value.sival_int);
  return unused;
}

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  waiter = start(await, NULL);
  value = 5;  // RACE
  pthread_sigqueue(waiter, SIGUSR1, (union sigval){.sival_int = 1});
  join(waiter);
  return 0;
}
