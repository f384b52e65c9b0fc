// Tasks refer to the loop's variable, which goes on, or have a copy.
#include "twin.h"

static int cells[16];
#if RACY
static int at;
#endif

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if !RACY
    int at = 0;
#endif
    while (at < 12) {
#if RACY
#pragma omp task
#else
#pragma omp task firstprivate(at)
#endif
      {
        const int mine = at;  // RACE
        use(mine);
        if (mine < 16) use(cells[mine]);
      }
      at++;  // RACE
    }
#pragma omp taskwait
  }
  return 0;
}
