// A file that is mapped for reading, and written by write(): the mapping shows at once what was
// written, as databases rely on. By the descriptor that it was mapped by, and by another.
#include <fcntl.h>
#include <sys/mman.h>
#include "program.h"

enum { kPage = 4096, kThreads = 3, kTimes = 10 };
static int file;
static const volatile unsigned char* seen;

static void* body(void* number) {
  const long at = kPage * (long)number + 5;
  for (int i = 1; i <= kTimes; i++) {
    const unsigned char byte = (unsigned char)(20 * (long)number + i);
    CHECK_EQ(pwrite(file, &byte, 1, at), 1);
    CHECK_EQ(seen[at], byte);
  }
  return NULL;
}

static void run(int other) {
  char name[] = "/var/tmp/seen-XXXXXX";
  file = mkstemp(name);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, 16 * kPage), 0);
  const int reader = other ? open(name, O_RDONLY) : file;
  CHECK_EQ(unlink(name), 0);
  seen = mmap(NULL, 16 * kPage, PROT_READ, MAP_SHARED, reader, 0);
  CHECK(seen != MAP_FAILED);
  body((void*)8);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  int sum = 0;
  for (int i = 0; i < 16; i++) sum += seen[kPage * i + 5];
  printf("%d\n", sum);
}

int main(void) {
  run(0);
  run(1);
  return 0;
}
