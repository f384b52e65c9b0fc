// Memory for code that is made at run time: below 4 GiB (MAP_32BIT), or at a place near the
// program's own code that a hint names. From one thread and from others, and kept over the making
// of threads.
#include <stdint.h>
#include <sys/mman.h>

#include "program.h"

enum { kSize = 65536 };

static char *g_low, *g_near;

static char* maps(char* hint, int flags) {
  char* at = mmap(hint, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  CHECK(at != MAP_FAILED);
  for (int i = 0; i < kSize; ++i) CHECK_EQ(at[i], 0);
  memset(at, 'm', kSize);
  return at;
}

static char* low(void) {
  char* at = maps(NULL, MAP_32BIT);
  CHECK((uintptr_t)at < (uintptr_t)1 << 32);
  return at;
}

static char* near(int place) {
  char* code = (char*)((uintptr_t)&near & ~(uintptr_t)0xffff);
  char* hint = code - ((size_t)256 << 20) - (size_t)place * kSize;
  char* at = maps(hint, 0);
  CHECK(at == hint);
  return at;
}

static void* in_thread(void* number) {
  const int place = 4 * (int)(intptr_t)number + 4;
  CHECK(g_low[5] == 'm' && g_near[kSize - 1] == 'm');
  char* first = near(place);
  char* second = low();
  CHECK_EQ(mprotect(first, kSize, PROT_READ | PROT_EXEC), 0);
  CHECK_EQ(first[9], 'm');
  CHECK_EQ(munmap(first, kSize), 0);
  CHECK(near(place) == first);
  second[1] = (char)place;
  return second;
}

int main(void) {
  g_low = low();
  g_near = near(0);
  char* gone = near(1);
  CHECK_EQ(munmap(gone, kSize), 0);
  pthread_t threads[3];
  char* kept[3];
  for (long i = 0; i < 3; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, in_thread, (void*)i), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_join(threads[i], (void**)&kept[i]), 0);
  for (int i = 0; i < 3; ++i) CHECK(kept[i][1] == 4 * i + 4 && kept[i][2] == 'm');
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(kept[1][1] == 8 && g_near[0] == 'm');
    CHECK(near(1) == gone && low() != NULL);
    _exit(0);
  }
  CHECK_CHILD(child);
  puts("near");
  return 0;
}
