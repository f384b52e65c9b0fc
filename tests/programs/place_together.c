// Two signals come to a thread at the same time, so one handler runs before the other's first
// instruction, and comes to a page that main has taken. The other computes, and main looks at how
// far it is: it is stopped in the middle.
#include "program.h"

enum { kTimes = 30, kRounds = 200000 };

static struct {
  _Alignas(4096) volatile unsigned long rounds;
  volatile sig_atomic_t outer;
} g_worker;
static struct {
  _Alignas(4096) volatile unsigned long looks;
  unsigned long at_inner[kTimes + 1];
  volatile sig_atomic_t inner;
} g_both;
static volatile sig_atomic_t g_done;

static void on_outer(int signal) {
  (void)signal;
  for (int i = 0; i < kRounds; i++) g_worker.rounds++;
  g_worker.outer++;
}

static void on_inner(int signal) {
  (void)signal;
  g_both.at_inner[g_both.inner] = g_worker.rounds;
  g_both.inner++;
}

static void* is_signalled(void* unused) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  for (int i = 0; i < kTimes; i++) {
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &both, NULL), 0);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR2), 0);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &both, NULL), 0);
  }
  CHECK_EQ(g_worker.outer, kTimes);
  CHECK_EQ(g_both.inner, kTimes);
  g_done = 1;
  return unused;
}

int main(void) {
  const struct sigaction outer = {.sa_handler = on_outer}, inner = {.sa_handler = on_inner};
  const struct timespec pause = {0, 200000};
  unsigned long seen = 0;
  pthread_t thread;
  CHECK_EQ(sigaction(SIGUSR1, &outer, NULL), 0);
  CHECK_EQ(sigaction(SIGUSR2, &inner, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, is_signalled, NULL), 0);
  while (!g_done) {
    seen += g_worker.rounds != seen;
    g_both.looks++;
    nanosleep(&pause, NULL);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(g_worker.rounds, (unsigned long)kTimes * kRounds);
  puts("all came");
  return 0;
}
