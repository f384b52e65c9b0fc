// A thread sets the alarm whose handler another one runs.
#include <signal.h>
#include <sys/time.h>

#include "twin.h"

static int data, seen;
static volatile sig_atomic_t handled;

static void on_alarm(int signal) {
  use(signal);
  handled = 1;
  seen = data;  // RACE
}

static void* body(void* unused) {
  const struct itimerval soon = {{0, 0}, {0, 3000}};
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  if (!RACY) data = 2;
  setitimer(ITIMER_REAL, &soon, NULL);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  signal(SIGALRM, on_alarm);
  pthread_t thread = start(body, NULL);
  while (!handled) usleep(1000);
  join(thread);
  use(seen);
  return 0;
}
