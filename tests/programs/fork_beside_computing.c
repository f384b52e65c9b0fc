// fork while other threads compute for long without an event: the child sees each of their words as
// it was at one moment, and the threads lose nothing.
#include "program.h"

enum { kForks = 12, kSteps = 1 << 22, kPieces = 8 };

static volatile long progress[kMaxThreads][64];
static unsigned long sums[kMaxThreads];
static pthread_t threads[kMaxThreads];

static void* body(void* argument) {
  const long number = (long)argument;
  unsigned long x = (unsigned long)number + 1;
  for (int piece = 0; piece < kPieces; ++piece) {
    for (long i = 0; i < kSteps; ++i) {
      x = x * 2862933555777941757u + (x >> 31);
      if (i % 1024 == 0) {
        progress[number][0] = i;
        progress[number][1] = i;
      }
    }
    sched_yield();
  }
  sums[number] = x;
  return NULL;
}

int main(int argc, char** argv) {
  const int count = argument(argc, argv, 1, 3);
  for (long i = 0; i < count; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      for (int k = 0; k < count; ++k) {
        const long ahead = progress[k][0] - progress[k][1];
        CHECK(ahead == 0 || ahead == 1024 || progress[k][0] == 0);
      }
      _exit(i);
    }
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(WEXITSTATUS(status), i);
  }
  for (int i = 0; i < count; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (long i = 0; i < count; ++i) {
    unsigned long x = (unsigned long)i + 1;
    for (long k = 0; k < (long)kPieces * kSteps; ++k) x = x * 2862933555777941757u + (x >> 31);
    CHECK_EQ(sums[i], x);
  }
  puts("sums right");
  return 0;
}
