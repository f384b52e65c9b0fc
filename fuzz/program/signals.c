// Actions with signals: handlers, masks, waits, cancellation, faults that the program handles.
#include <sys/signalfd.h>

#include "random_program.h"

static __thread volatile sig_atomic_t g_handled;
static __thread sigjmp_buf g_back;

static void on_signal(int signal) {
  const int error = errno;
  (void)signal;
  ++g_handled;
  errno = error;
}
static void on_fault(int signal) { siglongjmp(g_back, signal); }

static void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

static uint64_t signal_itself(struct worker* w) {
  install(SIGUSR1, on_signal, SA_RESTART);
  const unsigned times = 1 + below(w, 5);
  const int before = g_handled;
  for (unsigned i = 0; i < times; ++i) {
    if (below(w, 2)) CHECK_EQ(raise(SIGUSR1), 0);
    else CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  }
  CHECK_EQ(g_handled - before, times);
  return times;
}

static uint64_t hold_signal_back(struct worker* w) {
  install(SIGUSR1, on_signal, SA_RESTART);
  sigset_t set, old, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
  const int before = g_handled;
  for (unsigned i = 1 + below(w, 4); i; --i) CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(sigpending(&pending), 0);
  CHECK(sigismember(&pending, SIGUSR1));
  CHECK_EQ(g_handled, before);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
  CHECK_EQ(g_handled, before + 1);
  return 1;
}

static uint64_t wait_for_signal(struct worker* w) {
  sigset_t set, old;
  sigemptyset(&set);
  const int number = SIGRTMIN + 3 + w->number;
  sigaddset(&set, number);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
  const unsigned times = 1 + below(w, 4);
  uint64_t sum = 0;
  for (unsigned i = 0; i < times; ++i)
    CHECK_EQ(pthread_sigqueue(pthread_self(), number, (union sigval){.sival_int = (int)i + 7}), 0);
  for (unsigned i = 0; i < times; ++i) {
    siginfo_t info;
    const struct timespec limit = {10, 0};
    CHECK_EQ(sigtimedwait(&set, &info, &limit), number);
    CHECK_EQ(info.si_value.sival_int, i + 7);
    sum += (uint64_t)info.si_value.sival_int;
  }
  const struct timespec no_time = {0, 0};
  CHECK(sigtimedwait(&set, NULL, &no_time) < 0 && errno == EAGAIN);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
  return sum;
}

static uint64_t read_signals(struct worker* w) {
  sigset_t set, old;
  sigemptyset(&set);
  const int number = SIGRTMIN + 12 + w->number;
  sigaddset(&set, number);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
  const int file = signalfd(-1, &set, SFD_CLOEXEC);
  CHECK(file >= 0);
  CHECK_EQ(pthread_kill(pthread_self(), number), 0);
  struct signalfd_siginfo info;
  CHECK_EQ(read(file, &info, sizeof info), sizeof info);
  CHECK_EQ(info.ssi_signo, number);
  CHECK_EQ(close(file), 0);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
  return info.ssi_signo;
}

static uint64_t fault(struct worker* w) {
  install(SIGSEGV, on_fault, SA_NODEFER);
  char* const at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  CHECK_EQ(mprotect(at + 4096, 4096, PROT_NONE), 0);
  const unsigned times = 1 + below(w, 3);
  volatile unsigned faults = 0;
  for (volatile unsigned i = 0; i < times; ++i) {
    if (sigsetjmp(g_back, 1) == 0) {
      *(volatile char*)(at + 4096 + i) = 1;
      CHECK(0);
    }
    ++faults;
  }
  CHECK_EQ(munmap(at, 8192), 0);
  return faults;
}

struct canceled {
  sem_t begun;
  int cleaned;
};
static void clean(void* at) { ((struct canceled*)at)->cleaned = 1; }
static void* wait_to_be_canceled(void* at) {
  struct canceled* const canceled = at;
  pthread_cleanup_push(clean, at);
  CHECK_EQ(sem_post(&canceled->begun), 0);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return NULL;
}

static uint64_t cancel(struct worker* w) {
  (void)w;
  struct canceled canceled = {.cleaned = 0};
  CHECK_EQ(sem_init(&canceled.begun, 0, 0), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, wait_to_be_canceled, &canceled), 0);
  while (sem_wait(&canceled.begun) != 0) CHECK_EQ(errno, EINTR);
  CHECK_EQ(pthread_cancel(thread), 0);
  void* result;
  CHECK_EQ(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
  CHECK_EQ(canceled.cleaned, 1);
  CHECK_EQ(sem_destroy(&canceled.begun), 0);
  return 3;
}

struct interrupted {
  pthread_t thread;
  sem_t begun;
  _Atomic int is_done;
};
static void* sleep_in_read(void* at) {
  struct interrupted* const own = at;
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  char byte;
  CHECK_EQ(sem_post(&own->begun), 0);
  CHECK(read(ends[0], &byte, 1) < 0 && errno == EINTR);
  own->is_done = 1;
  CHECK_EQ(close(ends[0]) | close(ends[1]), 0);
  return NULL;
}

static uint64_t interrupt(struct worker* w) {
  (void)w;
  install(SIGUSR2, on_signal, 0);
  struct interrupted other = {.is_done = 0};
  CHECK_EQ(sem_init(&other.begun, 0, 0), 0);
  CHECK_EQ(pthread_create(&other.thread, NULL, sleep_in_read, &other), 0);
  while (sem_wait(&other.begun) != 0) CHECK_EQ(errno, EINTR);
  const struct timespec pause = {0, 200000};
  while (!other.is_done) {
    CHECK_EQ(pthread_kill(other.thread, SIGUSR2), 0);
    nanosleep(&pause, NULL);
  }
  CHECK_EQ(pthread_join(other.thread, NULL), 0);
  CHECK_EQ(sem_destroy(&other.begun), 0);
  return 4;
}

static uint64_t use_timer(struct worker* w) {
  sigset_t set, old;
  sigemptyset(&set);
  const int number = SIGRTMIN + 21 + w->number;
  sigaddset(&set, number);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
  event._sigev_un._tid = gettid();
  timer_t timer;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const struct itimerspec soon = {.it_value = {0, 300000}};
  CHECK_EQ(timer_settime(timer, 0, &soon, NULL), 0);
  const struct timespec limit = {20, 0};
  CHECK_EQ(sigtimedwait(&set, NULL, &limit), number);
  CHECK_EQ(timer_delete(timer), 0);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
  return 5;
}

static uint64_t handle_on_other_stack(struct worker* w) {
  (void)w;
  static __thread char stack[16384] __attribute__((aligned(16)));
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, old;
  CHECK_EQ(sigaltstack(&own, &old), 0);
  install(SIGWINCH, on_signal, SA_ONSTACK);
  const int before = g_handled;
  CHECK_EQ(raise(SIGWINCH), 0);
  CHECK_EQ(g_handled, before + 1);
  old.ss_flags = SS_DISABLE;
  CHECK_EQ(sigaltstack(&old, NULL), 0);
  return 6;
}

const struct named_action g_signal_actions[] = {{"signal_itself", signal_itself},
                                                {"hold_signal_back", hold_signal_back},
                                                {"wait_for_signal", wait_for_signal},
                                                {"read_signals", read_signals},
                                                {"fault", fault},
                                                {"cancel", cancel},
                                                {"interrupt", interrupt},
                                                {"use_timer", use_timer},
                                                {"handle_on_other_stack", handle_on_other_stack},
                                                {NULL, NULL}};
