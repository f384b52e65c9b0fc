// Two members of a structure lead to the same array.
#include <omp.h>

#include "twin.h"

struct pair {
  int *from, *to;
};
static int data[101], other[101];

int main(void) {
  omp_set_num_threads(4);
  struct pair pair = {data, RACY ? data + 1 : other};
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) pair.to[i] = pair.from[i] + 1;  // RACE
  use(data[5] + other[5]);
  return 0;
}
