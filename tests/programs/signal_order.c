// Real-time signals of one number come in the order in which another process, or each of several
// threads, has sent them, whoever blocks them meanwhile. Those to a thread come before those to the
// program. A thread is named by its own process only.
#include "program.h"

enum { kSignals = 2000, kSenders = 3, kEach = 500 };

static volatile int count, disordered, last[kSenders], code, value;
static volatile int ends;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t target;

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  const int sender = info->si_value.sival_int >> 16, number = info->si_value.sival_int & 0xffff;
  if (number != last[sender] + 1) ++disordered;
  last[sender] = number;
  ++count;
}

static void on_other(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  code = info->si_code;
  value = info->si_value.sival_int;
  ++count;
}

static void begin(void) {
  count = disordered = 0;
  for (int i = 0; i < kSenders; ++i) last[i] = -1;
}

static void from_process(void) {
  const pid_t program = getpid();
  begin();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kSignals; ++i) {
      const union sigval number = {.sival_int = i};
      while (sigqueue(program, SIGRTMIN + 1, number) != 0) {
        if (errno != EAGAIN) _exit(1);
        sched_yield();
      }
    }
    _exit(0);
  }
  CHECK_CHILD(child);
  while (count < kSignals) sched_yield();
  CHECK_EQ(disordered, 0);
}

static void* sends(void* sender) {
  for (int i = 0; i < kEach; ++i) {
    const union sigval number = {.sival_int = (int)(long)sender << 16 | i};
    int error;
    while ((error = pthread_sigqueue(target, SIGRTMIN + 1, number)) == EAGAIN) sched_yield();
    CHECK_EQ(error, 0);
  }
  return NULL;
}

static void* works(void* unused) {
  for (int end = 0; !end; sched_yield()) {
    pthread_mutex_lock(&mutex);
    end = ends;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* task_before_program(void* unused) {
  sigset_t set;
  siginfo_t info;
  union sigval sent = {.sival_int = 5};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  count = 0;
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(sigqueue(getpid(), SIGUSR1, sent), 0);
  for (sent.sival_int = 6; sent.sival_int < 9; ++sent.sival_int)  // one that waits stands for all
    CHECK_EQ(pthread_sigqueue(pthread_self(), SIGUSR1, sent), 0);
  CHECK_EQ(sigwaitinfo(&set, &info), SIGUSR1);
  CHECK_EQ(info.si_value.sival_int, 6);
  CHECK_EQ(sigwaitinfo(&set, &info), SIGUSR1);
  CHECK_EQ(info.si_value.sival_int, 5);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(count, 0);
  return unused;
}

static void* names(void* unused) {
  const int tid = (int)syscall(SYS_gettid);
  siginfo_t info = {0};
  CHECK_EQ(syscall(SYS_tgkill, getpid(), tid, 0), 0);
  CHECK_EQ(syscall(SYS_tgkill, 1 << 22, tid, SIGUSR1), -1);
  CHECK_EQ(errno, ESRCH);
  CHECK_EQ(syscall(SYS_tgkill, 0, tid, SIGUSR1), -1);
  CHECK_EQ(errno, EINVAL);
  CHECK_EQ(syscall(SYS_tgkill, getpid(), tid, 65), -1);
  CHECK_EQ(errno, EINVAL);
  info.si_code = -60;
  info.si_value.sival_int = 99;
  count = 0;
  CHECK_EQ(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGUSR1, &info), 0);
  while (count == 0) sched_yield();
  CHECK_EQ(code, -60);
  CHECK_EQ(value, 99);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t set;
  pthread_t thread;
  sigfillset(&action.sa_mask);
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  action.sa_sigaction = on_other;
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  target = pthread_self();

  from_process();
  task_before_program(NULL);
  names(NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, works, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  from_process();
  begin();
  run_threads(kSenders, sends);
  while (count < kSenders * kEach) sched_yield();
  CHECK_EQ(disordered, 0);
  pthread_mutex_lock(&mutex);
  ends = 1;
  pthread_mutex_unlock(&mutex);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  names(NULL);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, task_before_program, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("in order");
  return 0;
}
