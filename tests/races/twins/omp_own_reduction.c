// A reduction of the program's own, or a struct that all threads change.
#include "twin.h"

struct best {
  int value, at;
};
static inline void merge(struct best* into, const struct best* other) {
  if (other->value > into->value) *into = *other;
}
#pragma omp declare reduction(best : struct best : merge(&omp_out, &omp_in))

int main(void) {
  struct best best = {0, 0};
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) reduction(best : best)
#endif
  for (int i = 0; i < 30; ++i) {
    const struct best one = {i * 17 % 31, i};
    merge(&best, &one);  // RACE
  }
  use(best.at + best.value);
  return 0;
}
