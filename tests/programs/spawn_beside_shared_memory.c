// Threads make processes by posix_spawn while the program shares memory with another process, and
// write to each other's pages meanwhile. The new process makes system calls in the parent's memory
// before it executes: it is no thread of the program there, and waits for no page.
#include <spawn.h>

#include "program.h"

enum { kRounds = 12, kSlot = 64, kPage = 4096 };
static _Alignas(kPage) char slots[2][kPage];
static _Atomic int* shared;
static char* const arguments[] = {"true", NULL};
extern char** environ;

static void* body(void* number) {
  const long own = (long)number;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i) slots[i][own * kSlot]++;
    ++*shared;
    pid_t child;
    CHECK_EQ(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ), 0);
    CHECK_CHILD(child);
    for (int i = 0; i < 2; ++i) CHECK_EQ(slots[i][own * kSlot], round + 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  shared = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    ++*shared;
    _exit(0);
  }
  run_threads(threads, body);
  CHECK_CHILD(child);
  printf("%d\n", *shared);
  return 0;
}
