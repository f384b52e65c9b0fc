// Each thread doubles the cells from its first to its last; the last is the next thread's first.
#include "twin.h"

enum { kThreads = 4, kCells = 400 };
static double cells[kCells + 1];

static void* body(void* number) {
  const long me = (long)number, first = me * kCells / kThreads,
             last = (me + 1) * kCells / kThreads - !RACY;
  for (long i = first; i <= last; ++i) cells[i] = cells[i] * 2 + 1;  // RACE
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  use((long)cells[100]);
  return 0;
}
