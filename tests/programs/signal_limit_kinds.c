// Queued signals at the limit of what may wait (RLIMIT_SIGPENDING), of several numbers: handlers
// that interrupt each other or stand on a stack of their own, senders that are threads, a child and
// a timer. What was accepted comes once, with its value, and that of one sender in its order.
#include <sys/resource.h>

#include "program.h"

enum { kReceivers = 2, kNumbers = 3, kSent = 60, kRounds = 3, kLimit = 24, kSenders = 3 };

static sem_t ready[kReceivers], go[kReceivers];
static pthread_t receiver[kReceivers];
static volatile int come[kReceivers][kSenders][kNumbers], last[kReceivers][kSenders][kNumbers];
static int accepted[kSenders][kReceivers][kNumbers];
static volatile int last_of_child, ticks;
static int from_child;

static void on_value(int number, siginfo_t* information, void* context) {
  (void)context;
  const int kind = number - SIGRTMIN, value = information->si_value.sival_int;
  const int sender = value >> 16, order = value & 0xffff;
  const int me = pthread_equal(pthread_self(), receiver[1]) != 0;
  CHECK_EQ(information->si_code, SI_QUEUE);
  CHECK_EQ(information->si_pid, getpid());
  CHECK(last[me][sender][kind] < order);
  last[me][sender][kind] = order;
  ++come[me][sender][kind];
}

static void on_child(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  CHECK_EQ(information->si_code, SI_QUEUE);
  CHECK(information->si_pid != getpid());
  CHECK(last_of_child < information->si_value.sival_int);
  last_of_child = information->si_value.sival_int;
  __atomic_add_fetch(&from_child, 1, __ATOMIC_SEQ_CST);
}

static void on_tick(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  CHECK_EQ(information->si_code, SI_TIMER);
  CHECK_EQ(information->si_value.sival_int, 77);
  ++ticks;
}

static void* receive(void* number) {
  static __thread char stack[64 << 10];
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  const long me = (long)number;
  CHECK_EQ(sigaltstack(&own, NULL), 0);
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(sem_post(&ready[me]), 0);
    while (sem_wait(&go[me]) == -1) CHECK_EQ(errno, EINTR);
  }
  return NULL;
}

static void send_some(int sender, int round) {
  for (int i = 0; i < kSent; ++i) {
    const int to = i % kReceivers, kind = i / kReceivers % kNumbers;
    const union sigval value = {.sival_int = sender << 16 | (round * kSent + i + 1)};
    const int failed = pthread_sigqueue(receiver[to], SIGRTMIN + kind, value);
    if (failed) CHECK_EQ(failed, EAGAIN);
    else ++accepted[sender][to][kind];
  }
}

static void* also_send(void* sender) {
  for (int round = 0; round < kRounds; ++round) send_some((int)(long)sender, round);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
  struct rlimit few = {kLimit, kLimit};
  struct itimerspec often = {{0, 3000000}, {0, 3000000}}, never = {{0, 0}, {0, 0}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGRTMIN + kNumbers + 1,
                           .sigev_value = {.sival_int = 77}};
  pthread_t sender[kSenders];
  timer_t timer;
  sigset_t of_child, of_timer;
  int told[2], sent = 0;
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  action.sa_flags |= SA_ONSTACK;
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK_EQ(sigaction(SIGRTMIN + 2, &action, NULL), 0);
  action.sa_sigaction = on_child;
  CHECK_EQ(sigaction(SIGRTMIN + kNumbers, &action, NULL), 0);
  action.sa_sigaction = on_tick;
  CHECK_EQ(sigaction(SIGRTMIN + kNumbers + 1, &action, NULL), 0);
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  for (int i = 0; i < kReceivers; ++i)
    CHECK_EQ(sem_init(&ready[i], 0, 0) + sem_init(&go[i], 0, 0), 0);
  sigemptyset(&of_child);
  sigaddset(&of_child, SIGRTMIN + kNumbers);
  sigemptyset(&of_timer);
  sigaddset(&of_timer, SIGRTMIN + kNumbers + 1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &of_timer, NULL), 0);
  CHECK_EQ(pthread_create(&receiver[0], NULL, receive, (void*)0), 0);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &of_child, NULL), 0);
  CHECK_EQ(pthread_create(&receiver[1], NULL, receive, (void*)1), 0);
  CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &few), 0);
  CHECK_EQ(pipe(told), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (int i = 1; i <= kSent; ++i) {
      const union sigval value = {.sival_int = i};
      if (sigqueue(getppid(), SIGRTMIN + kNumbers, value) == 0) ++sent;
      else CHECK_EQ(errno, EAGAIN);
    }
    CHECK_EQ(write(told[1], &sent, sizeof sent), sizeof sent);
    _exit(0);
  }
  for (long i = 1; i < kSenders; ++i)
    CHECK_EQ(pthread_create(&sender[i], NULL, also_send, (void*)i), 0);
  CHECK_EQ(timer_settime(timer, 0, &often, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &of_timer, NULL), 0);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kReceivers; ++i)
      while (sem_wait(&ready[i]) == -1) CHECK_EQ(errno, EINTR);
    send_some(0, round);
    if (round == kRounds - 1) {
      for (long i = 1; i < kSenders; ++i) CHECK_EQ(pthread_join(sender[i], NULL), 0);
      while (read(told[0], &sent, sizeof sent) != sizeof sent) CHECK_EQ(errno, EINTR);
      while (ticks < 2 || __atomic_load_n(&from_child, __ATOMIC_SEQ_CST) < sent) sleep_ms(1);
      CHECK_EQ(timer_settime(timer, 0, &never, NULL), 0);
    }
    for (int i = 0; i < kReceivers; ++i) CHECK_EQ(sem_post(&go[i]), 0);
  }
  for (int i = 0; i < kReceivers; ++i) CHECK_EQ(pthread_join(receiver[i], NULL), 0);
  CHECK_CHILD(child);
  for (int s = 0; s < kSenders; ++s) {
    for (int r = 0; r < kReceivers; ++r) {
      for (int k = 0; k < kNumbers; ++k) CHECK_EQ(come[r][s][k], accepted[s][r][k]);
    }
  }
  CHECK_EQ(from_child, sent);
  puts("what was accepted has come, in its order");
  return 0;
}
