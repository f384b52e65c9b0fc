// A signal that is read from a descriptor says that the text is there, or, racy, will be.
#include "twin.h"

#include <signal.h>
#include <sys/signalfd.h>

static char text[16];
static sigset_t set;

static void* reader(void* unused) {
  const int file = signalfd(-1, &set, 0);
  struct signalfd_siginfo came;
  if (read(file, &came, sizeof came) != sizeof came) abort();
  pause_ms(RACY ? 20 : 0);
  use(text[1]);  // RACE
  close(file);
  return unused;
}

int main(void) {
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread = start(reader, NULL);
  pause_ms(10);
  if (!RACY) text[1] = 'b';
  kill(getpid(), SIGUSR2);
  if (RACY) text[1] = 'b';  // RACE
  join(thread);
  return 0;
}
