// sigsuspend and ppoll open their mask only while they wait: a signal sent before is not lost and
// none comes outside.
#include <poll.h>
#include "program.h"

static __thread volatile sig_atomic_t hits;

static void on_signal(int number) { (void)number, ++hits; }

static void* body(void* by_poll) {
  sigset_t open_mask, mask;
  sigemptyset(&open_mask);
  for (int i = 0; i < 5; ++i) {
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK_EQ(hits, i);
    errno = 0;
    CHECK_EQ(by_poll ? ppoll(NULL, 0, NULL, &open_mask) : sigsuspend(&open_mask), -1);
    CHECK_EQ(errno, EINTR);
    CHECK_EQ(hits, i + 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGUSR1), 1);
  }
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigset_t set;
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  run_threads(2, body);
  puts("none lost");
  return 0;
}
