// A thread sends its process a signal that another one handles.
#include <signal.h>

#include "twin.h"

static int data, seen;
static volatile sig_atomic_t handled;

static void on_signal(int signal) {
  use(signal);
  handled = 1;
  seen = data;  // RACE
}

static void* body(void* unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pause_ms(2);
  if (!RACY) data = 2;
  kill(getpid(), SIGUSR1);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  pthread_t thread = start(body, NULL);
  while (!handled) usleep(1000);
  join(thread);
  use(seen);
  return 0;
}
