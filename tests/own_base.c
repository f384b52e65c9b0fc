// A thread uses %gs for memory of its own, as code made from WebAssembly does (Firefox), and makes
// system calls meanwhile. usage: own_base instruction|call, which is how it sets the register.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static long values[64];

static void* use_base(void* how) {
  for (int i = 0; i < 64; i++) values[i] = 1000 + i;
  const int has_instruction = getauxval(AT_HWCAP2) & 2;  // else the kernel does not allow it
  if (has_instruction && strcmp(how, "instruction") == 0)
    __asm__ volatile("wrgsbase %0" : : "r"(values));
  else if (syscall(SYS_arch_prctl, ARCH_SET_GS, values) != 0) return NULL;
  long sum = 0, value;
  for (int i = 0; i < 10; i++) {
    getppid();
    __asm__ volatile("movq %%gs:24,%0" : "=r"(value));
    sum += value;
  }
  return (void*)sum;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pthread_t thread;
  void* sum;
  pthread_create(&thread, NULL, use_base, argv[1]);
  pthread_join(thread, &sum);
  printf("%ld\n", (long)sum);
  return 0;
}
