// A task gets signals on its alternate stack while its own has no room left. Nothing below its
// stack pointer is written or read then: another task's data lie there, and change meanwhile.
#include <stdatomic.h>

#include "program.h"

enum { kPage = 4096, kWords = kPage / sizeof(long), kSignals = 25, kRoom = 64 };
static volatile long* beside;  // the page below the stack
static atomic_int began, handled, ends;

static void on_signal(int number) {
  (void)number;
  atomic_store(&began, atomic_load(&handled) + 1);
  for (int i = 0; i < 20; ++i) sched_yield();
  atomic_store(&handled, atomic_load(&began));
}

static void yield_at(char* stack_pointer, long times) {
  __asm__ volatile(
      "mov %%rsp, %%r12\n\t"
      "mov %[place], %%rsp\n"
      "1:\n\t"
      "mov %[call], %%eax\n\t"
      "syscall\n\t"
      "dec %[times]\n\t"
      "jnz 1b\n\t"
      "mov %%r12, %%rsp"
      : [times] "+r"(times)
      : [place] "r"(stack_pointer), [call] "i"(SYS_sched_yield)
      : "rax", "rcx", "r11", "r12", "memory", "cc");
}

static void* body(void* unused) {
  const stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  while (!atomic_load(&ends)) yield_at((char*)beside + kPage + kRoom, 10);
  return unused;
}

static void fill(long value) {
  for (int i = 0; i < kWords; ++i) beside[i] = value;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  pthread_t thread;
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  beside = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(beside != MAP_FAILED);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  for (int i = 1; i <= kSignals; ++i) {
    fill(i);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    while (atomic_load(&handled) < i) {
      for (int k = 0; k < kWords; ++k) CHECK_EQ(beside[k], i);
      fill(i);
      sched_yield();
    }
    for (int k = 0; k < kWords; ++k) CHECK_EQ(beside[k], i);
  }
  atomic_store(&ends, 1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("nothing beside the stack");
  return 0;
}
