// Blocked signals that the program has sent itself come when the mask opens, whatever opens it: a
// system call of the program's own, the return of a handler, the mask of a wait. They come before
// there are threads, after one has ended, beside one, in a thread, and in a child.
#include "program.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

enum Handler { kPlain, kBlocks, kSends, kBlocksInContext, kOpensInContext, kRaises };

typedef unsigned long Set;
static const Set kBoth = 1ul << (SIGUSR1 - 1) | 1ul << (SIGUSR2 - 1),
                 kSecond = 1ul << (SIGUSR2 - 1), kNone = 0;
static volatile int first, second;
static volatile enum Handler handler;

static long call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static void mask(int how, const Set* set) { call(SYS_rt_sigprocmask, how, (long)set, 0, 8, 0, 0); }

static void send_both(int to_thread) {
  for (int signal = SIGUSR1; signal <= SIGUSR2; signal += SIGUSR2 - SIGUSR1) {
    if (to_thread) call(SYS_tgkill, getpid(), gettid(), signal, 0, 0, 0);
    else call(SYS_kill, getpid(), signal, 0, 0, 0, 0);
  }
}

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)info;
  const enum Handler what = handler;
  Set* const shown = (Set*)&((ucontext_t*)context)->uc_sigmask;
  handler = kPlain;
  if (signal == SIGUSR1) first++;
  else second++;
  if (what == kBlocks || what == kSends) mask(SIG_BLOCK, &kBoth);
  if (what == kSends) send_both(0);
  if (what == kBlocksInContext) *shown = kBoth;
  if (what == kOpensInContext) *shown = kNone;
  if (what == kRaises) raise(SIGWINCH);
}

static void on_other(int signal) { (void)signal; }

static void tell(const char* what) {
  printf(" %s %d %d", what, first, second);
  first = second = 0;
}

static void handlers(int to_thread) {
  static const char* const names[] = {"plain", "blocks", "sends", "closes", "opens", "raises"};
  for (enum Handler what = kPlain; what <= kRaises; what++) {
    if (what == kOpensInContext) {
      mask(SIG_BLOCK, &kSecond);
      call(SYS_kill, getpid(), SIGUSR2, 0, 0, 0, 0);
    }
    handler = what;
    if (to_thread) raise(SIGUSR1);
    else kill(getpid(), SIGUSR1);
    send_both(0);
    tell(names[what]);
    mask(SIG_SETMASK, &kNone);
    tell("then");
  }
}

static void waits(int to_thread) {
  const int poll = epoll_create1(0);
  struct epoll_event event;
  struct timespec pause;
  const struct {
    const Set* set;
    unsigned long size;
  } for_select = {&kNone, 8};
  for (int way = 0; way < 6; way++) {
    mask(SIG_BLOCK, &kBoth);
    send_both(to_thread);
    pause = (struct timespec){20, 0};
    long result = 0;
    switch (way) {
      case 0: mask(SIG_UNBLOCK, &kBoth); break;
      case 1: result = call(SYS_rt_sigsuspend, (long)&kNone, 8, 0, 0, 0, 0); break;
      case 2: result = call(SYS_ppoll, 0, 0, (long)&pause, (long)&kNone, 8, 0); break;
      case 3: result = call(SYS_pselect6, 0, 0, 0, 0, (long)&pause, (long)&for_select); break;
      case 4: result = call(SYS_epoll_pwait, poll, (long)&event, 1, 20000, (long)&kNone, 8); break;
      default:
        result = call(SYS_epoll_pwait2, poll, (long)&event, 1, (long)&pause, (long)&kNone, 8);
        if (result == -ENOSYS) result = call(SYS_rt_sigsuspend, (long)&kNone, 8, 0, 0, 0, 0);
    }
    printf(" %ld", result);
    tell("come");
    mask(SIG_SETMASK, &kNone);
    tell("then");
  }
  close(poll);
}

static void all(const char* where) {
  for (int to_thread = 0; to_thread < 2; to_thread++) {
    printf("%s %d:", where, to_thread);
    handlers(to_thread);
    printf("\n%s %d:", where, to_thread);
    waits(to_thread);
    printf("\n");
  }
  fflush(stdout);
}

static void in_child(const char* where) {
  const pid_t child = fork();
  if (child == 0) {
    all(where);
    _exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void* end_at_once(void* unused) { return unused; }

static void* run_all(void* where) {
  mask(SIG_SETMASK, &kNone);
  all(where);
  return NULL;
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  signal(SIGWINCH, on_other);
  all("before");
  in_child("child of one");
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, end_at_once, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  all("after");
  in_child("child of several");
  mask(SIG_BLOCK, &kBoth);
  CHECK_EQ(pthread_create(&thread, NULL, run_all, "thread"), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  mask(SIG_SETMASK, &kNone);
  all("end");
  return 0;
}
