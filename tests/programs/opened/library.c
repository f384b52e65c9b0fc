// What a program opens while it runs, with instructions of its own that ask the processor and the
// kernel.
#include <sys/syscall.h>
#include <x86intrin.h>

unsigned long ticks(void) { return __rdtsc(); }

long number_of_thread(void) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_gettid) : "rcx", "r11", "memory");
  return result;
}
