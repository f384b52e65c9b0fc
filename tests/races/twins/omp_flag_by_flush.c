// A flag and a value are handed over by flushes alone, or by atomics that release and acquire.
#include "twin.h"

static int value, ready;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections
    {
#pragma omp section
      {
        value = 7;  // RACE
#if RACY
#pragma omp flush
        ready = 1;  // RACE
#pragma omp flush
#else
#pragma omp atomic write release
        ready = 1;
#endif
      }
#pragma omp section
      {
        for (int seen = 0, tries = 0; !seen && tries < 2000; ++tries) {
#if RACY
#pragma omp flush
          seen = ready;  // RACE
#else
#pragma omp atomic read acquire
          seen = ready;
#endif
          if (seen) use(value);  // RACE
          else usleep(10);
        }
      }
    }
  }
  return 0;
}
