// Two threads sort their own numbers, and the comparison counts its calls in what they share.
#include "twin.h"

static long calls;

static int compared(const void* a, const void* b, void* counter) {
  ++*(long*)counter;  // RACE
  return *(const int*)a - *(const int*)b;
}

static void* body(void* unused) {
  int numbers[] = {4, 2, 7, 1, 9};
  long own = 0;
  qsort_r(numbers, 5, sizeof(int), compared, RACY ? &calls : &own);
  use(numbers[0] + own);
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(calls);
  return 0;
}
