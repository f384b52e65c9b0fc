// A thread maps over a region in use and takes pages away and back: the others see the new memory
// at the old address.
#include "program.h"

enum { kSize = 8 * 4096 };
static char* region;
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number;
  const int rights = PROT_READ | PROT_WRITE;
  for (int round = 0; round < 5; ++round) {
    region[me] = (char)(round + 1);
    pthread_barrier_wait(&barrier);
    CHECK_EQ(region[0], round + 1);
    pthread_barrier_wait(&barrier);
    if (me == round % 2) {
      int flags = MAP_FIXED | MAP_ANONYMOUS | (round % 3 ? MAP_PRIVATE : MAP_SHARED);
      CHECK(mmap(region, kSize, rights, flags, -1, 0) == region);
      region[kSize - 1] = (char)(round + 50);
    }
    pthread_barrier_wait(&barrier);
    CHECK_EQ(region[me], 0);
    CHECK_EQ(region[kSize - 1], round + 50);
    pthread_barrier_wait(&barrier);
    if (me == 0) CHECK_EQ(munmap(region + 4096, 4096), 0);
    pthread_barrier_wait(&barrier);
    if (me == 1)
      CHECK(mmap(region + 4096, 4096, rights, MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_PRIVATE, -1,
                 0) == region + 4096);
    pthread_barrier_wait(&barrier);
    CHECK_EQ(region[4096 + me], 0);
  }
  return NULL;
}

int main(void) {
  region = (char*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(region != MAP_FAILED);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  run_threads(2, body);
  puts("replaced in place");
  return 0;
}
