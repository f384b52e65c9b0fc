// A system call whose site has no room for a jump, where one byte has to do: before there are
// threads, in one, after it, and in forked children of both; by itself, and in a handler that ends
// a sleep made there.
#include "program.h"

#include <sys/wait.h>
#include <time.h>

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

static volatile sig_atomic_t seen;

static void on_alarm(int signal) {
  (void)signal;
  seen += cramped(0, 0, 0, SYS_getppid) == getppid();
}

static void call(const char* where) {
  uid_t real = 0, effective = 1, saved = 2;
  CHECK_EQ(getresuid(&real, &effective, &saved), 0);
  CHECK_EQ(real, getuid());
  CHECK_EQ(effective, geteuid());
  CHECK_EQ(cramped(0, 0, 0, SYS_getppid), getppid());
  CHECK_EQ(cramped(1, 0, 0, 5), 5);
  puts(where);
  fflush(stdout);
}

static void in_child(const char* where) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    call(where);
    _exit(0);
  }
  CHECK_CHILD(child);
}

static void* calls(void* unused) {
  (void)unused;
  call("thread");
  return NULL;
}

int main(void) {
  pthread_t thread;
  call("alone");
  signal(SIGALRM, on_alarm);
  const struct timespec long_time = {20, 0};
  ualarm(200000, 0);  // on a busy machine, too, the sleep has begun by then
  CHECK_EQ(cramped(0, (long)&long_time, 0, SYS_nanosleep), -EINTR);
  CHECK_EQ(seen, 1);
  in_child("child");
  CHECK_EQ(pthread_create(&thread, NULL, calls, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  call("after it");
  in_child("child after it");
  return 0;
}
