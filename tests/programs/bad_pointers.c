// System calls with bad pointers answer EFAULT, whoever answers them: the kernel or the runtime.
// Before the first thread, in a thread and after it.
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "program.h"

static const char read_only[4096] __attribute__((aligned(4096))) = "x";
static char* none;  // PROT_NONE
static int faults;

#define FAULTS(...)                     \
  do {                                  \
    errno = 0;                          \
    CHECK_EQ(syscall(__VA_ARGS__), -1); \
    CHECK_EQ(errno, EFAULT);            \
    ++faults;                           \
  } while (0)

static void signals(void* bad) {
  char good[256] = {0};
  struct timespec no_time = {0, 0};
  FAULTS(SYS_rt_sigaction, SIGUSR2, bad, NULL, 8);
  FAULTS(SYS_rt_sigaction, SIGUSR2, NULL, bad, 8);
  FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8);
  FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, NULL, bad, 8);
  FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, good, bad, 8);
  FAULTS(SYS_rt_sigpending, bad, 8);
  FAULTS(SYS_rt_sigsuspend, bad, 8);
  FAULTS(SYS_rt_sigtimedwait, bad, NULL, &no_time, 8);
  FAULTS(SYS_rt_sigtimedwait, good, NULL, bad, 8);
  FAULTS(SYS_sigaltstack, bad, NULL);
  FAULTS(SYS_sigaltstack, NULL, bad);
  FAULTS(SYS_rt_sigqueueinfo, getpid(), SIGUSR2, bad);
  FAULTS(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGUSR2, bad);
}

static void times(void* bad) {
  struct itimerspec never = {{0, 0}, {0, 0}};
  timer_t timer;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
  int id = (int)(intptr_t)timer;
  FAULTS(SYS_nanosleep, bad, NULL);
  FAULTS(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, bad, NULL);
  FAULTS(SYS_timer_create, CLOCK_MONOTONIC, bad, &id);
  FAULTS(SYS_timer_create, CLOCK_MONOTONIC, NULL, bad);
  FAULTS(SYS_timer_settime, id, 0, bad, NULL);
  FAULTS(SYS_timer_settime, id, 0, &never, bad);
  FAULTS(SYS_timer_gettime, id, bad);
  FAULTS(SYS_setitimer, ITIMER_REAL, bad, NULL);
  FAULTS(SYS_getitimer, ITIMER_REAL, bad);
  CHECK_EQ(timer_delete(timer), 0);
}

static void futexes(void* bad) {
  int word = 1, other = 2;
  FAULTS(SYS_futex, bad, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  FAULTS(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, bad, NULL, 0);
  FAULTS(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 1, bad, NULL, ~0);
  FAULTS(SYS_futex, bad, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
  FAULTS(SYS_futex, bad, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
  FAULTS(SYS_futex, bad, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, &other, 0);
  FAULTS(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 0, 0, bad,
         FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
}

static void transfers(void* bad) {
  int ends[2], pair[2];
  char text[4] = "abc";
  struct iovec part = {bad, 3}, good = {text, 3};
  struct msghdr message = {.msg_iov = bad, .msg_iovlen = 1};
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  CHECK_EQ(write(ends[1], text, 3), 3);
  CHECK_EQ(write(pair[1], text, 3), 3);
  FAULTS(SYS_pipe, bad);
  FAULTS(SYS_read, ends[0], bad, 3);
  FAULTS(SYS_readv, ends[0], bad, 1);
  FAULTS(SYS_readv, ends[0], &part, 1);
  FAULTS(SYS_recvmsg, pair[0], bad, 0);
  FAULTS(SYS_recvmsg, pair[0], bad, MSG_WAITALL);
  FAULTS(SYS_recvmsg, pair[0], &message, MSG_WAITALL);
  FAULTS(SYS_recvfrom, pair[0], bad, 3, MSG_WAITALL, NULL, NULL);
  FAULTS(SYS_sendmsg, pair[0], bad, 0);
  FAULTS(SYS_sendmsg, pair[0], &message, 0);
  FAULTS(SYS_writev, ends[1], bad, 1);
  FAULTS(SYS_sendfile, ends[1], pair[1], bad, 1);
  FAULTS(SYS_openat, AT_FDCWD, bad, O_RDONLY);
  FAULTS(SYS_open, bad, O_RDONLY);
  CHECK_EQ(writev(ends[1], &good, 1), 3);
  for (int i = 0; i < 2; ++i) CHECK_EQ(close(ends[i]) | close(pair[i]), 0);
}

static void polls(void* bad) {
  struct pollfd one = {0, POLLIN, 0};
  struct timespec no_time = {0, 0};
  fd_set set;
  int epoll = epoll_create1(0);
  FD_ZERO(&set);
  FAULTS(SYS_poll, bad, 1, 0);
  FAULTS(SYS_ppoll, &one, 0, bad, NULL, 8);
  FAULTS(SYS_ppoll, &one, 0, &no_time, bad, 8);
  FAULTS(SYS_select, 1, bad, NULL, NULL, NULL);
  FAULTS(SYS_select, 1, &set, &set, bad, NULL);
  FAULTS(SYS_select, 1, &set, NULL, NULL, bad);
  FAULTS(SYS_pselect6, 1, &set, NULL, NULL, bad, NULL);
  FAULTS(SYS_pselect6, 1, &set, NULL, NULL, &no_time, bad);
  FAULTS(SYS_epoll_pwait, epoll, NULL, 1, 0, bad, 8);
  CHECK_EQ(close(epoll), 0);
}

static void children(void* bad) {
  siginfo_t information;
  for (int i = 0; i < 3; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(4);
    if (i == 0) FAULTS(SYS_wait4, child, bad, 0, NULL);
    if (i == 1) FAULTS(SYS_wait4, child, NULL, 0, bad);
    if (i == 2) FAULTS(SYS_waitid, P_PID, child, bad, WEXITED, NULL);
    CHECK_EQ(waitid(P_PID, (id_t)child, &information, WEXITED), -1);  // it was reaped all the same
    CHECK_EQ(errno, ECHILD);
  }
}

static void* all(void* unused) {
  char* all_bad[] = {NULL, none, (char*)0x10000, (char*)0x8000000000000000};
  for (unsigned i = 0; i < sizeof all_bad / sizeof all_bad[0]; ++i) {
    char* bad = all_bad[i] ? all_bad[i] : (char*)8;
    signals(bad);
    times(bad);
    futexes(bad);
    transfers(bad);
    polls(bad);
    children(bad);
  }
  void* constant = (void*)read_only;  // can be read, not written
  FAULTS(SYS_rt_sigaction, SIGUSR2, NULL, constant, 8);
  FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, NULL, constant, 8);
  FAULTS(SYS_getitimer, ITIMER_REAL, constant);
  FAULTS(SYS_pipe, constant);
  printf("%d\n", faults);
  fflush(stdout);
  faults = 0;
  return unused;
}

int main(void) {
  pthread_t thread;
  none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  CHECK(none != MAP_FAILED);
  all(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, all, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  all(NULL);
  return 0;
}
