// Signals of the program's own instructions, whose handler leaves by siglongjmp or steps over the
// instruction; in main before there is a thread, in a thread, and in main beside it. The last one
// has no handler any more, and ends the program.
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "program.h"

enum { kUd2, kDivision, kBreakpoint, kNull, kPrivileged, kInstructions };
static __thread sigjmp_buf back;
static volatile int steps_over;
static volatile int* volatile nowhere = (volatile int*)8;

static void handler(int signal, siginfo_t* info, void* context) {
  CHECK(info->si_code > 0);
  if (!steps_over) siglongjmp(back, signal);
  steps_over++;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

__attribute__((noinline)) static void execute(int instruction) {
  switch (instruction) {
    case kUd2: __asm__ volatile("ud2"); break;
    case kDivision:
      __asm__ volatile("xor %%ecx,%%ecx; mov $1,%%eax; cltd; idiv %%ecx" ::: "eax", "ecx", "edx");
      break;
    case kBreakpoint: __asm__ volatile("int3"); break;
    case kNull: *nowhere = 1; break;
    case kPrivileged: __asm__ volatile("hlt"); break;
  }
}

static void* body(void* where) {
  for (volatile int round = 0; round < 20; round++) {
    for (volatile int i = 0; i < kInstructions; i++) {
      const int signal = sigsetjmp(back, 1);
      if (signal == 0) execute(i);
      CHECK(signal != 0);
      if (round == 0) printf("%s: %d\n", (const char*)where, signal);
    }
  }
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  const int signals[] = {SIGILL, SIGFPE, SIGTRAP, SIGSEGV};
  for (int i = 0; i < 4; i++) CHECK_EQ(sigaction(signals[i], &action, NULL), 0);
  body("alone");
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, body, "thread"), 0);
  CHECK_EQ(pthread_join(id, NULL), 0);
  body("main");
  steps_over = 1;
  for (int i = 0; i < 100; i++) execute(kUd2);
  printf("stepped over %d\n", steps_over - 1);
  fflush(stdout);
  signal(SIGILL, SIG_DFL);
  execute(kUd2);
  return 1;
}
