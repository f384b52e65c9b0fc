// Files that are larger than a large page, and sparse ones, mapped for reading: where the kernel
// puts the mapping depends on the file system, and of a sparse file only what is there may be read.
#include <fcntl.h>
#include <sys/mman.h>

#include "program.h"

enum { kLarge = 5000000 };
static const long kSparse = 1l << 38;

static int open_temporary(void) {
  int file = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  CHECK(file >= 0);
  return file;
}

static long sum(int file, long size, int kind, long step) {
  unsigned char* at = mmap(NULL, size, PROT_READ, kind, file, 0);
  CHECK(at != MAP_FAILED);
  long sum = 0;
  for (long i = 0; i < size; i += step) sum += at[i] * (i % 251 + 1);
  CHECK_EQ(munmap(at, size), 0);
  return sum;
}

static void look(const char* where, const int* files) {
  const int kinds[] = {MAP_SHARED, MAP_PRIVATE};
  for (int k = 0; k < 2; k++) {
    printf("%s: %ld", where, sum(files[0], kLarge, kinds[k], 997));
    printf(" %ld\n", sum(files[1], kSparse, kinds[k], kSparse / 8));
  }
}

static void* body(void* argument) {
  look("thread", argument);
  return NULL;
}

int main(void) {
  int files[2] = {open_temporary(), open_temporary()};
  static unsigned char bytes[kLarge];
  for (int i = 0; i < kLarge; i++) bytes[i] = i * 7;
  CHECK_EQ(write(files[0], bytes, kLarge), kLarge);
  CHECK_EQ(ftruncate(files[1], kSparse), 0);
  CHECK_EQ(pwrite(files[1], bytes + 1, 1, kSparse / 2), 1);
  look("main", files);
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, body, files), 0);
  CHECK_EQ(pthread_join(id, NULL), 0);
  look("main", files);
  return 0;
}
