// A task uses a block that its maker frees without waiting for it.
#include "twin.h"

static long sum;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    char* const text = malloc(16);
    memset(text, 7, 16);
#pragma omp task firstprivate(text)
    {
      const long value = text[3];  // RACE
      use(value);
    }
    pause_ms(1);
#if !RACY
#pragma omp taskwait
#endif
    free(text);  // RACE
  }
  use(sum);
  return 0;
}
