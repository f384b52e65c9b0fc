// An OpenMP loop adds to a sum by a reduction clause. libgomp's own synchronization is unknown to gcc's tsan.
#include "program.h"

int main(void) {
  long sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 300; ++i) {
    sum += i;
    use(i);
  }
  return sum == 0;
}
