// Of a timer whose signal is blocked one signal waits, and what goes off meanwhile is its overruns,
// for sigwaitinfo as for a handler, in a program with threads as in one without.
#include "program.h"

enum { kRounds = 40, kLeast = 30 };  // milliseconds by another timer; that one may begin later

static volatile int calls, handler_overruns;

static void on_timer(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  CHECK_EQ(info->si_code, SI_TIMER);
  CHECK_EQ(info->si_value.sival_int, 77);
  if (!calls++) handler_overruns = info->si_overrun;
}

static timer_t start(int signal) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
  const struct itimerspec every = {{0, 1000000}, {0, 1000000}};
  timer_t timer;
  event.sigev_value.sival_int = 77;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  CHECK_EQ(timer_settime(timer, 0, &every, NULL), 0);
  return timer;
}

static sigset_t set_of(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

// A signal that waits stays when its timer is deleted.
static void delete (timer_t timer, const sigset_t* set) {
  const struct timespec none = {0, 0};
  CHECK_EQ(timer_delete(timer), 0);
  while (sigtimedwait(set, NULL, &none) > 0) {}
}

// Until the other timer has gone off so many times.
static void let_time_pass(void) {
  const timer_t timer = start(SIGRTMIN + 2);
  const sigset_t set = set_of(SIGRTMIN + 2);
  siginfo_t info;
  for (int passed = 0; passed < kRounds;) {
    if (sigwaitinfo(&set, &info) == -1) continue;
    CHECK_EQ(timer_getoverrun(timer), info.si_overrun);
    passed += 1 + info.si_overrun;
  }
  delete (timer, &set);
}

static void* body(void* unused) {
  const sigset_t set = set_of(SIGRTMIN + 1);
  siginfo_t info;
  timer_t timer = start(SIGRTMIN + 1);
  let_time_pass();
  CHECK_EQ(sigwaitinfo(&set, &info), SIGRTMIN + 1);
  CHECK(info.si_overrun >= kLeast);
  CHECK_EQ(timer_getoverrun(timer), info.si_overrun);

  calls = 0;
  let_time_pass();
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK(calls >= 1 && calls < kLeast);
  CHECK(handler_overruns >= kLeast);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  delete (timer, &set);
  return unused;
}

static void* joins(void* thread) {
  CHECK_EQ(pthread_join(*(pthread_t*)thread, NULL), 0);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
  sigset_t blocked = set_of(SIGRTMIN + 1);
  pthread_t thread, other;
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  sigaddset(&blocked, SIGRTMIN + 2);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
  body(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_create(&other, NULL, joins, &thread), 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  body(NULL);
  puts("overruns counted");
  return 0;
}
