// Very many ranges without access, alternating with open ones: every one of them still faults in a
// thread, and in a forked child; opened again they are as they were.
#include "program.h"

enum { kRanges = 4500 };
static char* base;
static size_t page;
static sigjmp_buf back;

static void on_fault(int number) { siglongjmp(back, number); }

static int faults(volatile char* at) {
  if (sigsetjmp(back, 1)) return 1;
  *at = 1;
  return 0;
}

static void look(int closed) {
  int count = 0;
  for (int i = 0; i < kRanges; ++i) {
    count += faults(base + (size_t)(2 * i) * page);
    CHECK_EQ(base[(size_t)(2 * i + 1) * page], (char)i);
  }
  CHECK_EQ(count, closed);
}

static void* body(void* unused) {
  look(kRanges);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_fault};
  pthread_t thread;
  page = (size_t)sysconf(_SC_PAGESIZE);
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  base = mmap(NULL, 2 * kRanges * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(base != MAP_FAILED);
  for (int i = 0; i < kRanges; ++i) {
    base[(size_t)(2 * i + 1) * page] = (char)i;
    CHECK_EQ(mprotect(base + (size_t)(2 * i) * page, page, PROT_NONE), 0);
  }
  look(kRanges);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    look(kRanges);
    _exit(0);
  }
  CHECK_CHILD(child);
  CHECK_EQ(mprotect(base, 2 * kRanges * page, PROT_READ | PROT_WRITE), 0);
  look(0);
  puts("closed and open");
  return 0;
}
