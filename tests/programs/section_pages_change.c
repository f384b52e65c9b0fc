// Passes of one critical section write other pages each time, or pages that were unmapped,
// replaced, closed for writing or written by a spawned process's parent in between; checksums tell
// what was lost.
#include <spawn.h>

#include "program.h"

enum { kPage = 4096, kPages = 24, kRounds = 120 };

extern char** environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* area;
static unsigned char model[kPages];
static long turns;
static int closed;  // the first 12 pages

static void add(int page) {
  if (closed && page < 12) return;
  ++area[page * kPage + 100];
  ++model[page];
}

static void check(void) {
  for (int page = 0; page < kPages; ++page)
    CHECK_EQ((unsigned char)area[page * kPage + 100], model[page]);
}

static void* body(void* number) {
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    ++turns;
    for (int k = 0; k < 6; ++k) add((turns % 2 * 12 + k * 2) % kPages);
    check();
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    if (round % 10 == (long)number) {
      CHECK_EQ(pthread_mutex_lock(&lock), 0);
      switch (round / 10 % 4) {
        case 0:  // closed, and opened again
          if (closed++ == 0) CHECK_EQ(mprotect(area, 12 * kPage, PROT_READ), 0);
          check();
          CHECK_EQ(pthread_mutex_unlock(&lock), 0);
          CHECK_EQ(pthread_mutex_lock(&lock), 0);
          if (--closed == 0) CHECK_EQ(mprotect(area, 12 * kPage, PROT_READ | PROT_WRITE), 0);
          break;
        case 1:  // replaced: zeros
          if (closed) break;
          CHECK(mmap(area + 4 * kPage, 4 * kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == area + 4 * kPage);
          memset(model + 4, 0, 4);
          break;
        case 2:  // given back to the kernel: zeros
          if (closed) break;
          CHECK_EQ(madvise(area + 10 * kPage, 2 * kPage, MADV_DONTNEED), 0);
          memset(model + 10, 0, 2);
          break;
        default: {
          char* command[] = {(char*)"true", NULL};
          pid_t child;
          int status = 1;
          CHECK_EQ(posix_spawnp(&child, "true", NULL, NULL, command, environ), 0);
          add(3);
          CHECK_EQ(waitpid(child, &status, 0), child);
          CHECK_EQ(status, 0);
        }
      }
      check();
      CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  area = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(area != MAP_FAILED);
  run_threads(argument(argc, argv, 1, 3), body);
  check();
  printf("turns %ld\n", turns);
  return 0;
}
