// Memory at a place below 4 GiB that a thread has asked for (where Java has its heap): reserved,
// opened and closed by mprotect and by mmap over it, whole and in parts. A forked process, and a
// thread that is made later, find it open or closed as it was.
#include <sys/wait.h>

#include "program.h"

enum { kSize = 8 << 20 };

static char* const kPlace = (char*)0xf0000000;

static char* checked(void* memory) {
  CHECK(memory != MAP_FAILED);
  return memory;
}

static char* reserve(int number) {
  return checked(mmap(kPlace + number * 2L * kSize, kSize, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

static void map_over(char* at, size_t size, int protection) {
  checked(mmap(at, size, protection, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0));
}

static void fork_and_write(const char* when, char* memory) {
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    memory[kSize / 2] = memory[kSize - 1] = 3;
    _exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  printf("%s: a child %s\n", when, status ? "may not write" : "writes");
}

static void* use(void* unused) {
  char* const first = reserve(0);
  CHECK_EQ(mprotect(first, kSize, PROT_READ | PROT_WRITE), 0);
  first[0] = 1;
  fork_and_write("opened by mprotect", first);

  char* const second = reserve(1);
  map_over(second, kSize, PROT_READ | PROT_WRITE);
  for (int i = 0; i < kSize; i += 4096) second[i] = 1;
  fork_and_write("opened by mmap", second);
  CHECK_EQ(mprotect(second, kSize, PROT_READ), 0);
  CHECK_EQ(second[0], 1);
  fork_and_write("closed by mprotect", second);
  map_over(second, kSize, PROT_READ | PROT_WRITE);
  CHECK_EQ(second[0], 0);
  second[0] = 2;
  map_over(second, kSize, PROT_NONE);
  fork_and_write("closed by mmap", second);
  map_over(second, kSize / 2, PROT_READ);
  map_over(second + kSize / 2, kSize / 2, PROT_READ | PROT_WRITE);
  fork_and_write("in halves", second);
  return unused;
}

static void* write_late(void* unused) {
  char* const first = kPlace;
  printf("late: %d\n", first[0]);
  first[kSize - 1] = 7;
  return unused;
}

int main(void) {
  void* (*const bodies[2])(void*) = {use, write_late};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, bodies[i], NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  printf("%d\n", kPlace[kSize - 1]);
  return 0;
}
