// Progress is counted by an atomic construct, and the racy thread reads it without one.
#include "twin.h"

int main(void) {
  int progress = 0;
#pragma omp parallel for num_threads(3) schedule(static, 1) shared(progress)
  for (int i = 0; i < 30; ++i) {
#pragma omp atomic
    progress++;
    if (i % 5) continue;
    int seen;
#if !RACY
#pragma omp atomic read
#endif
    seen = progress;  // RACE
    use(seen + 1);
  }
  use(progress);
  return 0;
}
