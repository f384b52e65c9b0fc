// Two threads let the kernel write a pair of descriptors.
#include "twin.h"

static int ends[2];

static void* body(void* unused) {
  int own[2];
  int* where = RACY ? ends : own;
  if (pipe(where) != 0) abort();  // RACE
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(ends[0]);
  return 0;
}
