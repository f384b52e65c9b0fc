// Child processes by clone and clone3 in their many forms, from a program of one thread and from a
// thread: with a stack of their own, with ids written to memory, told of by another signal or none,
// waited for by a descriptor, with a directory that both share, with handlers reset.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

static sigset_t g_told;
static int g_in_child;
static char* g_stack;
enum { kStack = 256 << 10 };

static void on_signal(int signal) { (void)signal; }

static int returns(void* value) {
  g_in_child = 1;
  return (int)(intptr_t)value;
}

static int deep(int depth) {
  volatile char bytes[1000];
  bytes[depth % 1000] = 1;
  return depth ? deep(depth - 1) + bytes[depth % 1000] : 0;
}
static int goes_deep(void* value) { return deep((int)(intptr_t)value) & 0x7f; }

static int changes_directory(void* unused) {
  (void)unused;
  return chdir("/proc");
}

static int tells_group(void* unused) {
  (void)unused;
  return getpid() != (int)syscall(SYS_gettid);
}

static void end(const char* what, pid_t child) {
  int status = 0;
  const pid_t found = waitpid(child, &status, __WALL);
  printf("%s: %s %d, child's memory %d\n", what,
         found == child && WIFEXITED(status) ? "ended with" : "?", WEXITSTATUS(status), g_in_child);
}

static void with_stacks(void) {
  char* top = g_stack + kStack;
  end("a stack", clone(returns, top, SIGCHLD, (void*)6));
  end("a deep stack", clone(goes_deep, top, SIGCHLD, (void*)150));
  end("its own pid", clone(tells_group, top, SIGCHLD, NULL));
  pid_t parent_tid = 0, child_tid = 0;
  const pid_t child = clone(returns, top, SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID,
                            (void*)7, &parent_tid, NULL, &child_tid);
  printf("ids: %d %d\n", parent_tid == child, child_tid);
  end("with ids", child);
  char before[200], after[200];
  if (!getcwd(before, sizeof before)) return;
  end("its own directory", clone(changes_directory, top, SIGCHLD, NULL));
  const int same = getcwd(after, sizeof after) && !strcmp(before, after);
  end("a shared directory", clone(changes_directory, top, SIGCHLD | CLONE_FS, NULL));
  const int other = getcwd(after, sizeof after) && !strcmp(after, "/proc");
  printf("directories: %d %d, back %d\n", same, other, chdir(before));
  end("waited for", clone(returns, top, SIGCHLD | CLONE_VFORK, (void*)8));
}

// The signal is there before the wait is over, or is to come to nobody. All threads block both.
static void with_signals(void) {
  char* top = g_stack + kStack;
  const int kinds[] = {SIGCHLD, SIGUSR1, 0};
  const struct timespec none = {0, 0};
  for (int i = 0; i < 3; i++) {
    while (sigtimedwait(&g_told, NULL, &none) > 0) continue;
    end("told", clone(returns, top, kinds[i], (void*)(intptr_t)i));
    sigset_t pending;
    sigpending(&pending);
    printf("signals: child %d, other %d\n", sigismember(&pending, SIGCHLD),
           sigismember(&pending, SIGUSR1));
  }
}

static void wait_by(const char* what, int descriptor, pid_t child) {
  struct pollfd one = {descriptor, POLLIN, 0};
  const int polled = poll(&one, 1, -1);
  siginfo_t info;
  memset(&info, 0, sizeof info);
  const int looked = waitid(P_PIDFD, (id_t)descriptor, &info, WEXITED | WNOWAIT);
  printf("%s: polled %d, found %d, status %d, is the child %d\n", what, polled, looked,
         info.si_status, info.si_pid == child);
  memset(&info, 0, sizeof info);
  const int taken = waitid(P_PIDFD, (id_t)descriptor, &info, WEXITED);
  const int again = waitid(P_PIDFD, (id_t)descriptor, &info, WEXITED);
  printf("%s: taken %d, again %d %d, flags %d\n", what, taken, again, errno == ECHILD,
         fcntl(descriptor, F_GETFD));
  close(descriptor);
}

static void with_descriptors(void) {
  char* top = g_stack + kStack;
  int descriptor = -1, ends[2];
  char byte;
  const pid_t first = clone(returns, top, SIGCHLD | CLONE_PIDFD, (void*)11, &descriptor);
  wait_by("clone", descriptor, first);
  struct clone_args arguments = {
      .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&descriptor, .exit_signal = SIGCHLD};
  const pid_t second = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
  if (second == 0) _exit(12);
  wait_by("clone3", descriptor, second);
  if (pipe(ends) != 0) return;
  const pid_t third = fork();
  if (third == 0) {
    (void)!read(ends[0], &byte, 1);
    _exit(13);
  }
  descriptor = (int)syscall(SYS_pidfd_open, third, 0);
  siginfo_t info;
  info.si_pid = 1;
  const int none = waitid(P_PIDFD, (id_t)descriptor, &info, WEXITED | WNOHANG);
  printf("not yet: %d %d\n", none, info.si_pid);
  (void)!write(ends[1], "", 1);
  const int copy = dup(descriptor);
  close(descriptor);
  wait_by("a copy", copy, third);
  const pid_t fourth = fork();
  if (fourth == 0) _exit(14);
  waitid(P_PID, (id_t)fourth, &info, WEXITED | WNOWAIT);
  wait_by("ended before", (int)syscall(SYS_pidfd_open, fourth, 0), fourth);
  close(ends[0]);
  close(ends[1]);
}

// The descriptor is older than the first thread, which waits by it.
static void* waits_by_descriptor(void* descriptor) {
  siginfo_t info;
  const int taken = waitid(P_PIDFD, (id_t)(long)descriptor, &info, WEXITED);
  printf("older: taken %d, status %d\n", taken, info.si_status);
  return NULL;
}

static void with_older_descriptor(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    (void)!read(ends[0], &byte, 1);
    _exit(15);
  }
  const long descriptor = syscall(SYS_pidfd_open, child, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, waits_by_descriptor, (void*)descriptor);
  (void)!write(ends[1], "", 1);
  pthread_join(thread, NULL);
  close((int)descriptor);
  close(ends[0]);
  close(ends[1]);
}

static void with_handlers_reset(void) {
  struct clone_args arguments = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
  const pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) {
    struct sigaction now, ignored;
    sigaction(SIGUSR1, NULL, &now);
    sigaction(SIGUSR2, NULL, &ignored);
    _exit((now.sa_handler == SIG_DFL) + 2 * (ignored.sa_handler == SIG_IGN));
  }
  end("handlers", child);
}

static void refuses(void) {
  printf("invalid:");
  const unsigned long flags[] = {CLONE_SIGHAND | SIGCHLD, CLONE_THREAD | CLONE_VM,
                                 CLONE_NEWNS | CLONE_FS | SIGCHLD,
                                 CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD};
  for (int i = 0; i < 4; i++) {
    int word;
    const long result = syscall(SYS_clone, flags[i], 0, &word, &word, 0);
    if (result == 0) _exit(1);
    printf(" %s", result == -1 && errno == EINVAL ? "EINVAL" : "?");
  }
  printf("\n");
}

static void* all(void* unused) {
  with_stacks();
  with_signals();
  with_descriptors();
  with_handlers_reset();
  refuses();
  return unused;
}

static void* waits(void* unused) {
  pause();
  return unused;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  g_stack = malloc(kStack);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGCHLD, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGUSR2, SIG_IGN);
  sigemptyset(&g_told);
  sigaddset(&g_told, SIGCHLD);
  sigaddset(&g_told, SIGUSR1);
  sigprocmask(SIG_BLOCK, &g_told, NULL);
  with_older_descriptor();
  all(NULL);
  pthread_t thread, other;
  pthread_create(&other, NULL, waits, NULL);
  pthread_create(&thread, NULL, all, NULL);
  pthread_join(thread, NULL);
  all(NULL);
  return 0;
}
