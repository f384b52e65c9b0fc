// Two threads compute for long in memory of one page, without any call; the race comes late.
#include "twin.h"

static struct {
  volatile unsigned own[2][64];
  volatile long late;
} all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void compute(long self, double seconds, int is_late) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (long i = 0; i < 100000; ++i) {
      all.own[self][i % 64] += (unsigned)i;
      if (!is_late || i % 100) continue;
      guard(&mutex);
      all.late++;  // RACE
      unguard(&mutex);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
}

static void* body(void* number) {
  compute((long)number, 1.0, 0);
  compute((long)number, 1.0, 1);
  return number;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
