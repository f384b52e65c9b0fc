// pthread_sigqueue and sigqueue carry their values, in order, to sigwaitinfo and to a handler.
#include "program.h"

static volatile sig_atomic_t handled;
static volatile int sum;

static void on_signal(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  sum = sum * 10 + information->si_value.sival_int;
  ++handled;
}

static void* body(void* unused) {
  sigset_t set;
  siginfo_t information;
  int digits = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  for (int i = 0; i < 3; ++i) {
    int got;
    while ((got = sigwaitinfo(&set, &information)) == -1 && errno == EINTR) {}
    CHECK_EQ(got, SIGRTMIN);
    CHECK_EQ(information.si_code, SI_QUEUE);
    CHECK_EQ(information.si_pid, getpid());
    digits = digits * 10 + information.si_value.sival_int;
  }
  CHECK_EQ(digits, 123);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  union sigval value;
  sigset_t set;
  pthread_t thread;
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  for (int i = 1; i <= 3; ++i) {
    value.sival_int = i;
    CHECK_EQ(pthread_sigqueue(thread, SIGRTMIN, value), 0);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  for (int i = 4; i <= 6; ++i) {
    value.sival_int = i;
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN + 1, value), 0);
    while (handled < i - 3) sched_yield();
  }
  CHECK_EQ(sum, 456);
  puts("values 123 456");
  return 0;
}
