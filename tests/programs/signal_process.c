// A handler for a signal sent to the process runs in a thread that does not block it, and sees
// shared memory.
#include "program.h"

static volatile sig_atomic_t count;
static volatile pid_t handled_by;
static volatile int stop;
static pid_t open_thread;
static sem_t ready;

static void on_signal(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  if (information->si_pid != getpid()) _exit(3);
  handled_by = (pid_t)syscall(SYS_gettid);
  ++count;
}

static void* body(void* unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  open_thread = (pid_t)syscall(SYS_gettid);
  CHECK_EQ(sem_post(&ready), 0);
  while (!stop) sched_yield();
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t set;
  pthread_t thread;
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(sem_wait(&ready), 0);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL),
           0);  // After the thread was made: it must know nevertheless.
  for (int i = 1; i <= 5; ++i) {
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    while (count < i) sched_yield();
    CHECK_EQ(handled_by, open_thread);
  }
  stop = 1;
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(count, 5);
  puts("handled 5");
  return 0;
}
