// Processor time clocks: a thread's own counts its work and nobody else's, the process's every
// thread's, also by getrusage and clock.
#include <sys/resource.h>
#include "program.h"

static long milliseconds(clockid_t clock) {
  struct timespec t;
  CHECK_EQ(clock_gettime(clock, &t), 0);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void* works(void* unused) {
  clockid_t mine;
  volatile unsigned long turns = 0;
  CHECK_EQ(pthread_getcpuclockid(pthread_self(), &mine), 0);
  while (milliseconds(CLOCK_THREAD_CPUTIME_ID) < 20) {
    for (int i = 0; i < 400000; ++i) turns = turns + 1;
  }
  CHECK(milliseconds(mine) >= 20);
  return unused;
}

static void* is_new(void* unused) {
  CHECK(milliseconds(CLOCK_THREAD_CPUTIME_ID) < 15);
  return unused;
}

int main(void) {
  struct rusage usage;
  while (milliseconds(CLOCK_THREAD_CPUTIME_ID) < 5) {}
  long own = milliseconds(CLOCK_THREAD_CPUTIME_ID), before = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
  run_threads(2, works);
  CHECK(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - before >= 38);
  CHECK(clock() / (CLOCKS_PER_SEC / 1000) - before >= 38);
  CHECK(milliseconds(CLOCK_THREAD_CPUTIME_ID) < 38 + before);
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  CHECK((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
            (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000 >=
        36);
  // A thread made after others have ended begins at 0; main's own clock went on when the first was
  // made.
  run_threads(1, is_new);
  CHECK(milliseconds(CLOCK_THREAD_CPUTIME_ID) >= own);
  puts("time counted");
  return 0;
}
