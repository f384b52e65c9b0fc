// main ends by a jump to its return address from a function that it called: the stack pointer is
// not the one that main began with. Programs of Free Pascal end so. The exit handlers run, and the
// status is main's.
#include "program.h"

static void* return_address;
static void* frame_of_caller;
static int total;

static void* adds(void* unused) {
  __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static void at_end(void) { printf("exit handler, %d\n", total); }

__attribute__((noinline, noreturn)) static void leave(int status) {
  char deep[2000];
  memset(deep, 0x5a, sizeof deep);
  __asm__ volatile(
      "mov %0, %%eax\n mov %1, %%rcx\n mov %2, %%rbp\n mov $-1, %%rbx\n push %%rcx\n ret"
      :
      : "r"(status), "m"(return_address), "m"(frame_of_caller), "r"(deep)
      : "rax", "rcx", "memory");
  __builtin_unreachable();
}

int main(void) {
  return_address = __builtin_return_address(0);
  frame_of_caller = *(void**)__builtin_frame_address(0);
  CHECK_EQ(atexit(at_end), 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, adds, NULL), 0);
  for (int i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("main leaves\n");
  leave(27);
}
