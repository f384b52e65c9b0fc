// A burst of real-time signals: all come, in order, with their values, to a handler, to a thread
// that opens its mask and to sigwaitinfo; standard signals do not queue; beyond the limit of queued
// signals EAGAIN.
#include <sys/resource.h>

#include "program.h"

enum { kBurst = 500 };
static volatile int got[2 * kBurst], count;
static volatile sig_atomic_t plain;
static sem_t ready, sent;

static void on_value(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  if (information->si_code != SI_QUEUE || information->si_pid != getpid()) _exit(3);
  got[count] = information->si_value.sival_int;
  ++count;
}

static void on_plain(int number) { (void)number, ++plain; }

static void check_values(const char* what) {
  CHECK_EQ(count, kBurst);
  for (int i = 0; i < kBurst; ++i) CHECK_EQ(got[i], i);
  count = 0;
  printf("%s: %d in order\n", what, kBurst);
  fflush(stdout);
}

static void set_blocked(int how, int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  CHECK_EQ(pthread_sigmask(how, &set, NULL), 0);
}

// The kernel's call: to a thread, or (0) to the program.
static void send_all(pthread_t* thread, int number) {
  for (int i = 0; i < kBurst; ++i) {
    union sigval value = {.sival_int = i};
    CHECK_EQ(thread ? pthread_sigqueue(*thread, number, value) : sigqueue(getpid(), number, value),
             0);
  }
}

static void* receiver(void* unused) {
  sigset_t set;
  siginfo_t information;
  // Open: they are handled while it waits for the last.
  CHECK_EQ(sem_post(&ready), 0);
  while (sem_wait(&sent) == -1) CHECK_EQ(errno, EINTR);
  check_values("open thread");
  // Blocked, then opened at once.
  set_blocked(SIG_BLOCK, SIGRTMIN + 1);
  CHECK_EQ(sem_post(&ready), 0);
  CHECK_EQ(sem_wait(&sent), 0);
  CHECK_EQ(count, 0);
  set_blocked(SIG_UNBLOCK, SIGRTMIN + 1);
  check_values("opened thread");
  // Waited for.
  set_blocked(SIG_BLOCK, SIGRTMIN + 1);
  CHECK_EQ(sem_post(&ready), 0);
  CHECK_EQ(sem_wait(&sent), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  for (int i = 0; i < kBurst; ++i) {
    CHECK_EQ(sigwaitinfo(&set, &information), SIGRTMIN + 1);
    CHECK_EQ(information.si_value.sival_int, i);
  }
  puts("waited for: in order");
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
  struct sigaction simple = {.sa_handler = on_plain};
  pthread_t thread;
  sigset_t set;
  siginfo_t information;
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGUSR1, &simple, NULL), 0);
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  CHECK_EQ(sem_init(&sent, 0, 0), 0);

  // Before the first thread.
  set_blocked(SIG_BLOCK, SIGRTMIN);
  send_all(NULL, SIGRTMIN);
  CHECK_EQ(count, 0);
  set_blocked(SIG_UNBLOCK, SIGRTMIN);
  check_values("alone");

  set_blocked(SIG_BLOCK, SIGRTMIN);
  CHECK_EQ(pthread_create(&thread, NULL, receiver, NULL), 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(sem_wait(&ready), 0);
    send_all(&thread, SIGRTMIN + 1);
    CHECK_EQ(sem_post(&sent), 0);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);

  // To the program, which blocks it: sigpending knows, and the thread that opens its mask gets all.
  send_all(NULL, SIGRTMIN);
  CHECK_EQ(sigpending(&set), 0);
  CHECK_EQ(sigismember(&set, SIGRTMIN), 1);
  CHECK_EQ(sigismember(&set, SIGRTMIN + 2), 0);
  CHECK_EQ(count, 0);
  set_blocked(SIG_UNBLOCK, SIGRTMIN);
  check_values("program");

  // Open: the one thread there is has handled each when the call returns.
  for (int i = 0; i < kBurst; ++i) {
    union sigval value = {.sival_int = i};
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN, value), 0);
    CHECK_EQ(count, i + 1);
  }
  check_values("at once");

  // To the program, waited for.
  set_blocked(SIG_BLOCK, SIGRTMIN);
  send_all(NULL, SIGRTMIN);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  for (int i = 0; i < kBurst; ++i) {
    CHECK_EQ(sigwaitinfo(&set, &information), SIGRTMIN);
    CHECK_EQ(information.si_code, SI_QUEUE);
    CHECK_EQ(information.si_value.sival_int, i);
  }

  // A standard signal does not queue.
  set_blocked(SIG_BLOCK, SIGUSR1);
  for (int i = 0; i < 5; ++i) CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  for (int i = 0; i < 5; ++i) CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(plain, 0);
  set_blocked(SIG_UNBLOCK, SIGUSR1);
  CHECK(plain == 1 || plain == 2);  // one for the thread, one for the program

  // The limit.
  struct rlimit few = {60, 60};
  CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &few), 0);
  int queued = 0;
  union sigval value = {.sival_int = 0};
  while (queued < 1000 && pthread_sigqueue(pthread_self(), SIGRTMIN, value) == 0) ++queued;
  printf("limited: %d\n", queued <= 60);
  return 0;
}
