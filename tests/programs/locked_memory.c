// Memory that mlock() and mlockall() keep resident is still shared: what another thread writes
// there is seen. And mlockall() takes no more than what the program has.
#include <sys/mman.h>

#include "program.h"

enum { kSize = 65536, kStep = 512 };
static char* memory;

static void* count(void* unused) {
  for (int i = 0; i < kSize; i += kStep) memory[i]++;
  return unused;
}

static void run(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, count, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
  int sum = 0;
  CHECK_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0);
  memory = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK_EQ(memory != MAP_FAILED, 1);
  run();
  CHECK_EQ(mlock(memory, kSize), 0);
  run();
  CHECK_EQ(mlock2(memory + 100, 8000, 0), 0);
  run();
  CHECK_EQ(munlock(memory, kSize), 0);
  CHECK_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0);
  CHECK_EQ(mlockall(0), -1);
  run();
  CHECK_EQ(munlockall(), 0);
  run();
  for (int i = 0; i < kSize; i += kStep) sum += memory[i];
  printf("%d\n", sum);
  return 0;
}
