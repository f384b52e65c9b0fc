// Two halves of an array are sorted at once; the racy halves have an element in common.
#include "twin.h"

enum { kValues = 40 };
static int values[kValues];

static void sort(int* from, int count) {
  for (int i = 1; i < count; ++i) {
    for (int j = i; j > 0 && from[j - 1] > from[j]; --j) {  // RACE
      const int kept = from[j];                             // RACE
      from[j] = from[j - 1];                                // RACE
      from[j - 1] = kept;                                   // RACE
    }
  }
}

static void* body(void* number) {
  const int me = (int)(long)number;
  sort(values + me * kValues / 2, kValues / 2 + (RACY && me == 0));
  return NULL;
}

int main(void) {
  for (int i = 0; i < kValues; ++i) values[i] = (i * 37) % 41;
  run_threads(2, body);
  use(values[kValues / 2]);
  return 0;
}
