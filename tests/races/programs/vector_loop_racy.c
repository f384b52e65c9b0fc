// Vectorized loops over the two parts of an array, of which the parts overlap by four elements.
#include "program.h"

float samples[263];
enum { kEnd = 134 };
static void* low(void* unused) {
  for (int i = 0; i < kEnd; ++i) samples[i] = samples[i] * 2 + 1;  // RACE
  return unused;
}

static void* high(void* unused) {
  for (int i = 130; i < 263; ++i) samples[i] = samples[i] * 3 + 1;  // RACE
  return unused;
}

int main(void) {
  run_two(low, high);
  return 0;
}
