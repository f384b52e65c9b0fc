// Two OpenMP sections: one swaps two values, the other adds them up.
#include "planted.h"

static volatile int left = 3, right = 5, sum = 8;

int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#ifdef FIXED
#pragma omp critical
#endif
        {const int kept = left;
    left = right;
    right = kept;
  }
}
#pragma omp section
{
#ifdef FIXED
#pragma omp critical
#endif
  sum = left + right;
}
}
REQUIRE(sum == 8);
return 0;
}
