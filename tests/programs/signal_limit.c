// Real-time signals up to the limit of queued signals (RLIMIT_SIGPENDING), to a thread that waits,
// while others wait that are blocked: what sigqueue has accepted comes.
#include <sys/resource.h>

#include "program.h"

enum { kLimit = 64, kBlocked = 48, kSent = 200, kRounds = 8 };
static volatile int count, blocked_count;
static volatile char has_come[kRounds * kSent];
static sem_t ready, sent;

static void on_value(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  CHECK_EQ(has_come[information->si_value.sival_int], 0);
  has_come[information->si_value.sival_int] = 1;
  ++count;
}

static void on_blocked(int number) { (void)number, ++blocked_count; }

static void* receiver(void* unused) {
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(sem_post(&ready), 0);
    while (sem_wait(&sent) == -1) CHECK_EQ(errno, EINTR);
  }
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
  struct sigaction simple = {.sa_handler = on_blocked};
  struct rlimit few = {kLimit, kLimit};
  sigset_t set;
  pthread_t thread;
  int accepted = 0, blocked = 0;
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGRTMIN + 1, &simple, NULL), 0);
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  CHECK_EQ(sem_init(&sent, 0, 0), 0);
  CHECK_EQ(pthread_create(&thread, NULL, receiver, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &few), 0);
  union sigval value = {.sival_int = 0};
  while (blocked < kBlocked && pthread_sigqueue(pthread_self(), SIGRTMIN + 1, value) == 0) {
    ++blocked;
  }
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(sem_wait(&ready), 0);
    for (int i = 0; i < kSent; ++i) {
      value.sival_int = accepted;
      const int failed = pthread_sigqueue(thread, SIGRTMIN, value);
      if (failed) CHECK_EQ(failed, EAGAIN);
      else ++accepted;
    }
    CHECK_EQ(sem_post(&sent), 0);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  if (count != accepted) printf("%d of %d\n", count, accepted);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(blocked_count, blocked);
  puts("all that was accepted has come");
  return count != accepted;
}
