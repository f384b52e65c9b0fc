// A child in a pid namespace of its own shares memory with its parent: both know each other by
// other ids. Where no namespace may be made it is a plain child.
#include "program.h"

enum { kTimes = 200 };
static char stack[64 << 10];
static long* shared;

static int count(void* unused) {
  (void)unused;
  for (int i = 0; i < kTimes; ++i) __atomic_add_fetch(&shared[0], 1, __ATOMIC_SEQ_CST);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    __atomic_add_fetch(&shared[1], 1, __ATOMIC_SEQ_CST);
    _exit(5);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

int main(void) {
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pid_t child = clone(count, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, NULL);
  if (child == -1) child = clone(count, stack + sizeof stack, SIGCHLD, NULL);
  CHECK(child > 0);
  for (int i = 0; i < kTimes; ++i) __atomic_add_fetch(&shared[0], 1, __ATOMIC_SEQ_CST);
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  printf("%ld %ld %d\n", shared[0], shared[1], WEXITSTATUS(status));
  return 0;
}
