// A new thread inherits its creator's signal mask, masks are per thread, and a blocked signal stays
// pending.
#include "program.h"

static volatile sig_atomic_t runs;

static void on_signal(int number) { (void)number, ++runs; }

static void* body(void* unused) {
  sigset_t set, old, pending;
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &old), 0);
  CHECK_EQ(sigismember(&old, SIGUSR1), 1);
  CHECK_EQ(sigismember(&old, SIGUSR2), 0);
  CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(runs, 0);
  CHECK_EQ(sigpending(&pending), 0);
  CHECK_EQ(sigismember(&pending, SIGUSR1), 1);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(runs, 1);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigset_t set, now;
  pthread_t thread;
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(77, &set, NULL), EINVAL);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
  CHECK_EQ(sigismember(&now, SIGUSR1), 1);
  CHECK_EQ(runs, 1);
  puts("masks per thread");
  return 0;
}
