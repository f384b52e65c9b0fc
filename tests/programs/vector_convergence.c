// A loop whose only change is in a vector register computes; it does not wait, however long others
// wait for it.
#include "program.h"

static volatile double limit = 1e-300;
static double result;

static void* body(void* unused) {
  double x = 1e300;
  while (x > limit) x *= 0.99999;
  result = x;
  return unused;
}

int main(void) {
  run_threads(2, body);
  printf("%d\n", result > 0 && result <= limit);
  return 0;
}
