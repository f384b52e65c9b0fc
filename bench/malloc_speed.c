// Question: what does an allocation cost with the deterministic heap, against glibc's own?
// Command:  malloc_speed            (glibc)
//           WEIR_OPTIONS=order=token LD_PRELOAD=<build>/lib/libweir.so malloc_speed
// Figure:   nanoseconds for one allocation and its free, the median of 9 rounds; compare the two
//           columns as a ratio.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 9, kLive = 2000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint64_t g_state = 88172645463325252ull;
static uint64_t next_random(void) {
  g_state ^= g_state << 13, g_state ^= g_state >> 7, g_state ^= g_state << 17;
  return g_state;
}

static void* g_live[kLive];

// The same object again and again.
static long pairs(size_t size) {
  for (int i = 0; i < 2000000; ++i) {
    char* volatile object = malloc(size);
    *object = 1;
    free(object);
  }
  return 2000000;
}

// Fill a table, free it in order.
static long batches(size_t size) {
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < kLive; ++i) *(char*)(g_live[i] = malloc(size)) = 1;
    for (int i = 0; i < kLive; ++i) free(g_live[i]);
  }
  memset(g_live, 0, sizeof g_live);
  return 300L * kLive;
}

// Replace random objects of random sizes up to `size`.
static long churn(size_t size) {
  for (int i = 0; i < 500000; ++i) {
    uint64_t r = next_random();
    void** slot = &g_live[r % kLive];
    free(*slot);
    *slot = malloc((r >> 32) % size + 1);
    *(char*)*slot = 1;
  }
  for (int i = 0; i < kLive; ++i) free(g_live[i]), g_live[i] = NULL;
  return 500000;
}

static long zeroed(size_t size) {
  for (int i = 0; i < 300000; ++i) {
    char* volatile object = calloc(1, size);
    *object = 1;
    free(object);
  }
  return 300000;
}

// A buffer that doubles.
static long growing(size_t size) {
  long count = 0;
  for (int i = 0; i < 2000; ++i) {
    char* buffer = NULL;
    for (size_t bytes = 16; bytes <= size; bytes *= 2, ++count)
      *(buffer = realloc(buffer, bytes)) = 1;
    free(buffer);
  }
  return count;
}

static int ascending(const void* a, const void* b) {
  return (*(double*)a > *(double*)b) - (*(double*)a < *(double*)b);
}

static void measure(const char* name, long (*work)(size_t), size_t size) {
  double cost[kRounds];
  for (int i = 0; i < kRounds; ++i) {
    double start = now();
    long count = work(size);
    cost[i] = (now() - start) / count;
  }
  qsort(cost, kRounds, sizeof *cost, ascending);
  printf("%-10s %8zu %10.1f\n", name, size, cost[kRounds / 2]);
}

int main(void) {
  static const size_t sizes[] = {16, 64, 256, 1000, 4000, 16000, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) measure("pairs", pairs, sizes[i]);
  for (size_t i = 0; i < 4; ++i) measure("batches", batches, sizes[i]);
  for (size_t i = 1; i < 6; ++i) measure("churn", churn, sizes[i]);
  for (size_t i = 0; i < 5; ++i) measure("calloc", zeroed, sizes[i]);
  measure("realloc", growing, 4096);
  measure("realloc", growing, 1 << 20);
  return 0;
}
