// A thread waits for a signal by sigwait; the racy sender fills the request in behind the signal.
#include "twin.h"

#include <signal.h>

static int request;
static sigset_t set;

static void* waiter(void* unused) {
  int number = 0;
  if (sigwait(&set, &number) != 0) abort();
  pause_ms(RACY ? 20 : 0);
  use(request + number);  // RACE
  return unused;
}

int main(void) {
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread = start(waiter, NULL);
  pause_ms(10);
  if (!RACY) request = 7;
  pthread_kill(thread, SIGUSR1);
  if (RACY) request = 7;  // RACE
  join(thread);
  return 0;
}
