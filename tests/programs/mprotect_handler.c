// A program that protects its own pages gets its SIGSEGV in the thread that touched them, and may
// open them there.
#include "program.h"

enum { kPages = 32 };
static char* region;
static __thread volatile int faults;
static volatile int total;

static void on_fault(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  char* page = (char*)((uintptr_t)information->si_addr & ~4095ul);
  if (page < region || page >= region + kPages * 4096) _exit(3);
  if (mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0) _exit(4);
  ++faults;
}

static void* body(void* number) {
  for (long page = (long)number; page < kPages; page += 4)
    region[page * 4096 + 5] = (char)(page + 1);
  CHECK_EQ(faults, (kPages - 1 - (long)number) / 4 + 1);
  __atomic_add_fetch(&total, faults, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  region =
      (char*)mmap(NULL, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(region != MAP_FAILED);
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  CHECK_EQ(mprotect(region, kPages * 4096 / 2, PROT_READ), 0);
  CHECK_EQ(mprotect(region + kPages * 4096 / 2, kPages * 4096 / 2, PROT_NONE), 0);
  run_threads(4, body);
  for (int i = 0; i < kPages; ++i) CHECK_EQ(region[i * 4096 + 5], i + 1);
  CHECK_EQ(total, kPages);
  printf("faults %d\n", total);
  return 0;
}
