// The guard size is kept, and a touch of the guard below a thread's stack is a SIGSEGV at that very
// address.
#include "program.h"

enum { kGuard = 65536 };
static sigjmp_buf back;
static char* volatile touched;
static char alternate[65536];

static void on_fault(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  touched = (char*)information->si_addr;
  siglongjmp(back, 1);
}

static void* body(void* unused) {
  (void)unused;
  pthread_attr_t mine;
  void* base = NULL;
  size_t size = 0, guard = 0;
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  CHECK_EQ(pthread_getattr_np(pthread_self(), &mine), 0);
  CHECK_EQ(pthread_attr_getstack(&mine, &base, &size), 0);
  CHECK_EQ(pthread_attr_getguardsize(&mine, &guard), 0);
  CHECK_EQ(guard, kGuard);
  volatile char* below = (char*)base - 1;
  if (sigsetjmp(back, 1) == 0) {
    *below = 1;
    CHECK(!"the guard let a store through");
  }
  CHECK(touched == below);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setguardsize(&attributes, kGuard), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("guard held");
  return 0;
}
