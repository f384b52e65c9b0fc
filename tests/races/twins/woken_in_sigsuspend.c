// A thread waits in sigsuspend for a signal of another one.
#include <signal.h>

#include "twin.h"

static pthread_t waiting;
static int data;

static void on_signal(int signal) { use(signal); }

static void* body(void* unused) {
  pause_ms(2);
  if (!RACY) data = 2;
  pthread_kill(waiting, SIGUSR2);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  sigset_t blocked, none;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGUSR2, on_signal);
  waiting = pthread_self();
  pthread_t thread = start(body, NULL);
  sigsuspend(&none);
  use(data);  // RACE
  join(thread);
  return 0;
}
