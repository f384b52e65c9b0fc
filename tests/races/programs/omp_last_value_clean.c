// The value of the last iteration is wanted after the loop, and the variable is lastprivate. (ThreadSanitizer does not see libgomp's barrier.)
#include "program.h"

int main(void) {
  int last = 0;
#pragma omp parallel for num_threads(2) lastprivate(last)
  for (int i = 0; i < 1000; ++i) last = i;
  use(last);
  return 0;
}
