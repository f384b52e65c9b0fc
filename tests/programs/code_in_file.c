// Code in a file that is mapped twice, as compilers of code for vectors and virtual machines have
// it: written here, executed there; the file has no name any more. First by one thread before there
// are others, then by several.
#include <sys/mman.h>
#include "program.h"

enum { kSize = 65536, kThreads = 4, kEach = 256 };
static unsigned char *written, *executed;

static int made(int at, int value) {
  const unsigned char code[] = {0xb8, (unsigned char)value, 0, 0, 0, 0xc3};  // mov $value,%eax; ret
  memcpy(written + at, code, sizeof code);
  int (*function)(void);
  void* const address = executed + at;
  memcpy(&function, &address, sizeof function);
  return function();
}

static void* body(void* number) {
  const int at = kEach * (1 + (int)(long)number);
  for (int i = 0; i < 20; i++) CHECK_EQ(made(at + 8 * i, i), i);
  return NULL;
}

static void run(int is_named) {
  char name[] = "/var/tmp/code-XXXXXX";
  const int file = is_named ? mkstemp(name) : memfd_create("code", 0);
  CHECK(file >= 0);
  if (is_named) CHECK_EQ(unlink(name), 0);
  CHECK_EQ(ftruncate(file, kSize), 0);
  executed = mmap(NULL, kSize, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  written = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(executed != MAP_FAILED && written != MAP_FAILED);
  CHECK_EQ(close(file), 0);
  CHECK_EQ(made(0, 7), 7);
  CHECK_EQ(made(0, 8), 8);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(made(0, 9), 9);
}

int main(void) {
  run(1);
  run(0);
  puts("executed");
  return 0;
}
