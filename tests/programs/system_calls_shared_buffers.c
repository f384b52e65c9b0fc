// Buffers that one thread fills by a system call are read by others, and calls read what others
// wrote a moment before.
#include <sys/stat.h>
#include <sys/uio.h>
#include "program.h"

enum { kRounds = 10 };
static char from[3 * 4096], to[3 * 4096];
static struct stat status;
static int ends[2], file;
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = (size_t)me; i < sizeof from; i += 2) from[i] = (char)(round + i * 7);
    pthread_barrier_wait(&barrier);
    if (me == 0) {
      struct iovec parts[2] = {{from, 5000}, {from + 5000, sizeof from - 5000}};
      CHECK_EQ(writev(ends[1], parts, 2), sizeof from);
      CHECK_EQ(pwrite(file, from, sizeof from, 0), sizeof from);
      CHECK_EQ(fstat(file, &status), 0);
    } else {
      for (size_t got = 0; got < sizeof to;) {
        ssize_t n = read(ends[0], to + got, sizeof to - got);
        CHECK(n > 0);
        got += (size_t)n;
      }
    }
    pthread_barrier_wait(&barrier);
    CHECK(memcmp(from, to, sizeof to) == 0);
    CHECK_EQ(status.st_size, sizeof from);
    pthread_barrier_wait(&barrier);
    if (me == 1) CHECK_EQ(pread(file, to, sizeof to - 100, 100), sizeof to - 100);
    pthread_barrier_wait(&barrier);
    CHECK_EQ(to[0], (char)(round + 700));
  }
  return NULL;
}

int main(void) {
  char name[] = "/tmp/program-XXXXXX";
  CHECK((file = mkstemp(name)) >= 0);
  CHECK_EQ(unlink(name), 0);
  CHECK_EQ(pipe2(ends, 0), 0);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  run_threads(2, body);
  char* volatile nowhere = (char*)16;
  CHECK(write(ends[1], nowhere, 1) == -1 && errno == EFAULT);
  CHECK(write(ends[1], NULL, 0) == 0);
  printf("rounds %d\n", kRounds);
  return 0;
}
