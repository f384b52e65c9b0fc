// A thread in sigwait takes signals sent to the process and to itself; sigtimedwait answers EAGAIN
// after its time.
#include "program.h"

static sigset_t set;
static int taken[3];

static void* body(void* unused) {
  for (int i = 0; i < 3; ++i) CHECK_EQ(sigwait(&set, &taken[i]), 0);
  return unused;
}

static void* times_out(void* unused) {
  struct timespec little = {0, 10000000};
  CHECK_EQ(sigtimedwait(&set, NULL, &little), -1);
  CHECK_EQ(errno, EAGAIN);
  return unused;
}

int main(void) {
  pthread_t thread, other;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGTERM);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&other, NULL, times_out, NULL), 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
  while (__atomic_load_n(&taken[0], __ATOMIC_ACQUIRE) == 0) sched_yield();
  CHECK_EQ(kill(getpid(), SIGUSR2), 0);
  while (__atomic_load_n(&taken[1], __ATOMIC_ACQUIRE) == 0) sched_yield();
  CHECK_EQ(kill(getpid(), SIGTERM), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(taken[0] == SIGUSR1 && taken[1] == SIGUSR2 && taken[2] == SIGTERM);
  puts("USR1 USR2 TERM");
  return 0;
}
