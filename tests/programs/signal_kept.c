// Signals without a handler that the program ignores, but blocks in all threads, wait as others do:
// SIGCHLD, SIGWINCH and SIGURG, whose default is to be ignored, and one that is ignored by SIG_IGN.
// They are read from a signalfd, found by sigpending(), taken by sigwait(); to ignore them once
// more drops them, and so does opening the mask.
#include <poll.h>
#include <sys/signalfd.h>

#include "program.h"

static sem_t g_end;

static void* sleeper(void* unused) {
  CHECK_EQ(sem_wait(&g_end), 0);
  return unused;
}

static sigset_t set_of(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

static int is_pending(int signal) {
  sigset_t set;
  CHECK_EQ(sigpending(&set), 0);
  return sigismember(&set, signal);
}

static pid_t child_that_ends(int code) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(code);
  return child;
}

static void read_child(int signals) {
  const pid_t child = child_that_ends(4);
  struct pollfd readable = {signals, POLLIN, 0};
  CHECK_EQ(poll(&readable, 1, 10000), 1);
  struct signalfd_siginfo info;
  CHECK_EQ(read(signals, &info, sizeof info), (ssize_t)sizeof info);
  CHECK_EQ(info.ssi_signo, SIGCHLD);
  CHECK_EQ(info.ssi_pid, child);
  CHECK_EQ(info.ssi_status, 4);
  CHECK_EQ(waitpid(child, NULL, 0), child);
  puts("signalfd: the end of a child");
}

static void wait_for_child(void) {
  const sigset_t set = set_of(SIGCHLD);
  const pid_t child = child_that_ends(5);
  siginfo_t info;
  CHECK_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  CHECK(is_pending(SIGCHLD));
  CHECK_EQ(sigwaitinfo(&set, &info), SIGCHLD);
  CHECK_EQ(info.si_status, 5);
  CHECK_EQ(waitpid(child, NULL, 0), child);
  CHECK(!is_pending(SIGCHLD));
  puts("sigwait: the end of a child");
}

// From a child, so from another process.
static void send_from_child(int signal) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(kill(getppid(), signal) != 0);
  CHECK_CHILD(child);
}

static void send_ignored(int number, const char* name) {
  const sigset_t set = set_of(number);
  const struct timespec soon = {10, 0}, none = {0, 0};
  send_from_child(number);
  CHECK_EQ(sigtimedwait(&set, NULL, &soon), number);
  CHECK_EQ(kill(getpid(), number), 0);
  CHECK(is_pending(number));
  int taken = 0;
  CHECK_EQ(sigwait(&set, &taken), 0);
  CHECK_EQ(taken, number);
  // Ignored once more, it does not wait any longer.
  CHECK_EQ(kill(getpid(), number), 0);
  CHECK(is_pending(number));
  CHECK(signal(number, SIG_IGN) != SIG_ERR);
  CHECK(!is_pending(number));
  // The mask is opened, and closed again.
  CHECK_EQ(kill(getpid(), number), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK(!is_pending(number));
  CHECK_EQ(sigtimedwait(&set, NULL, &none), -1);
  printf("%s: waits, and goes\n", name);
}

int main(void) {
  sigset_t set = set_of(SIGCHLD);
  sigaddset(&set, SIGWINCH);
  sigaddset(&set, SIGURG);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(sem_init(&g_end, 0, 0), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, sleeper, NULL), 0);
  const sigset_t children = set_of(SIGCHLD);
  const int signals = signalfd(-1, &children, SFD_CLOEXEC);
  CHECK(signals >= 0);
  read_child(signals);
  close(signals);
  wait_for_child();
  // Children that end send a signal as well, which nobody is to find.
  CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
  send_ignored(SIGWINCH, "SIGWINCH");
  send_ignored(SIGURG, "SIGURG");
  CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
  send_ignored(SIGUSR1, "SIGUSR1");
  CHECK_EQ(sem_post(&g_end), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
