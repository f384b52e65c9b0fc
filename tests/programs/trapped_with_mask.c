// A program of one thread that blocks and handles SIGTRAP, with a system call whose site has room
// for one byte only: the call is made all the same, and the program's SIGTRAP is its own.
#include "program.h"

// Branches lead to the instruction and to the one after it.
long cramped(long skip, long a, long b, long number);
__asm__(
    ".text\n.globl cramped\n.type cramped,@function\n"
    "cramped: .cfi_startproc\n"
    "  mov %rdi,%r8\n  mov %rsi,%rdi\n  mov %rdx,%rsi\n  mov %rcx,%rax\n"
    "  cmp $1,%r8\n  je 2f\n  test %r8,%r8\n  je 1f\n  nop\n"
    "1: syscall\n"
    "2: ret\n"
    "  .cfi_endproc\n.size cramped,.-cramped\n");

static volatile sig_atomic_t traps, seen;

static void on_trap(int number) {
  (void)number;
  ++traps;
  seen += cramped(0, 0, 0, SYS_getppid) == getppid();
}

static void call(const char* where) {
  CHECK_EQ(cramped(0, 0, 0, SYS_getppid), getppid());
  puts(where);
  fflush(stdout);
}

static void* in_thread(void* unused) {
  call("thread");
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_trap}, old;
  sigset_t set, was;
  pthread_t thread;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  call("plain");
  CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
  call("blocked");
  CHECK_EQ(sigprocmask(SIG_BLOCK, NULL, &was), 0);
  CHECK_EQ(sigismember(&was, SIGTRAP), 1);
  CHECK_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(sigaction(SIGTRAP, &action, &old), 0);
  CHECK(old.sa_handler == SIG_DFL);
  call("handled");
  CHECK_EQ(traps, 0);
  CHECK_EQ(raise(SIGTRAP), 0);
  CHECK_EQ(traps, 1);
  CHECK_EQ(seen, 1);
  action.sa_handler = SIG_IGN;
  CHECK_EQ(sigaction(SIGTRAP, &action, &old), 0);
  CHECK(old.sa_handler == on_trap);
  call("ignored");
  CHECK_EQ(raise(SIGTRAP), 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
    call("child");
    _exit(0);
  }
  CHECK_CHILD(child);
  CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, in_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
