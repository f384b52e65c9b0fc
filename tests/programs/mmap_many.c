// Thousands of changes of the address space while main sleeps in a join and other threads have
// ended long ago; threads made afterwards see the right memory, and so does main.
#include "program.h"

#include <string.h>
#include <sys/mman.h>

enum { kPairs = 6000, kSize = 1 << 16 };

static char* kept;
static pthread_barrier_t together;

static void* ends(void* unused) {
  (void)unused;
  pthread_barrier_wait(&together);
  return NULL;
}

static char* map(int protection) {
  char* at = mmap(NULL, kSize, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

static void* maps(void* unused) {
  (void)unused;
  kept = map(PROT_READ | PROT_WRITE);
  memset(kept, 7, kSize);
  for (int i = 0; i < kPairs; i++) {
    char* at = map(PROT_READ | PROT_WRITE);
    CHECK_EQ(at[i % kSize], 0);
    at[i % kSize] = 1;
    CHECK_EQ(munmap(at, kSize), 0);
  }
  kept[5] = 8;
  return NULL;
}

static void* looks(void* unused) {
  (void)unused;
  for (int i = 0; i < kSize; i++) CHECK_EQ(kept[i], i == 5 ? 8 : 7);
  char* at = map(PROT_READ | PROT_WRITE);
  for (int i = 0; i < kSize; i++) CHECK_EQ(at[i], 0);
  at[0] = 1;
  kept[6] = 9;
  return at;
}

int main(void) {
  pthread_t threads[3], thread;
  CHECK_EQ(pthread_barrier_init(&together, NULL, 3), 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(pthread_create(&threads[i], NULL, ends, NULL), 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, maps, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  void* at;
  CHECK_EQ(pthread_create(&thread, NULL, looks, NULL), 0);
  CHECK_EQ(pthread_join(thread, &at), 0);
  printf("%d %d %d %d\n", kept[4], kept[5], kept[6], *(char*)at);
  return 0;
}
