// What a handler does to the registers in its context holds for the code that the signal has
// interrupted, also where that is a system call: what the call returns, a register that it keeps,
// where the thread goes on. The handler sees the program's registers there.
#include <ucontext.h>

#include "program.h"

static volatile long seen_rbx, seen_rsp;

static void change(int signal, siginfo_t* info, void* at) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)at)->uc_mcontext.gregs;
  seen_rbx = registers[REG_RBX];
  seen_rsp = registers[REG_RSP];
  registers[REG_RBX] = 77;
  registers[REG_RAX] = 4242;
}

// Goes on where r12 says.
static void go_elsewhere(int signal, siginfo_t* info, void* at) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)at)->uc_mcontext.gregs;
  registers[REG_RIP] = registers[REG_R12];
}

static void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {0};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

static void* body(void* argument) {
  const long process = getpid(), thread = syscall(SYS_gettid);
  handle(SIGUSR1, change);
  long result = SYS_tgkill, rbx, rsp;
  __asm__ volatile("mov $5,%%rbx\n\tmov %%rsp,%2\n\tsyscall\n\tmov %%rbx,%1"
                   : "+a"(result), "=&r"(rbx), "=&r"(rsp)
                   : "D"(process), "S"(thread), "d"((long)SIGUSR1)
                   : "rbx", "rcx", "r11", "memory");
  CHECK_EQ(seen_rbx, 5);
  CHECK_EQ(seen_rsp, rsp);
  CHECK_EQ(rbx, 77);
  CHECK_EQ(result, 4242);

  handle(SIGUSR1, go_elsewhere);
  long passed = 0;
  result = SYS_tgkill;
  __asm__ volatile(
      "lea 1f(%%rip),%%r12\n\tsyscall\n\tnop\n\tnop\n\tnop\n\tnop\n\tmov $1,%1\n\tud2\n1:\tor $2,%1"
      : "+a"(result), "+r"(passed)
      : "D"(process), "S"(thread), "d"((long)SIGUSR1)
      : "r12", "rcx", "r11", "memory");
  CHECK_EQ(passed, 2);
  return argument;
}

int main(void) {
  body(NULL);  // while there is one thread
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  body(NULL);
  puts("changed");
  return 0;
}
