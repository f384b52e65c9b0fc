// Two threads wait for the same queued signals to the process. Each takes its part and ends: what
// the one has not taken the other gets.
#include "program.h"

enum { kThreads = 2, kEach = 40 };
static sigset_t set;
static int come[kThreads * kEach];

static void* take(void* unused) {
  for (int i = 0; i < kEach; ++i) {
    siginfo_t information;
    int signal;
    while ((signal = sigwaitinfo(&set, &information)) == -1) CHECK_EQ(errno, EINTR);
    CHECK_EQ(signal, SIGRTMIN);
    __atomic_add_fetch(&come[information.si_value.sival_int], 1, __ATOMIC_SEQ_CST);
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, take, NULL), 0);
  for (int i = 0; i < kThreads * kEach; ++i) {
    const union sigval value = {.sival_int = i};
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN, value), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < kThreads * kEach; ++i) CHECK_EQ(come[i], 1);
  puts("each was taken once");
  return 0;
}
