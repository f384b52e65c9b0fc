// Both threads count in a __thread variable: each has its own.
#include "program.h"

__thread long mine;
static void* first(void* unused) {
  for (int i = 0; i < 100; ++i) mine += i, use(mine);
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 100; ++i) mine -= i, use(mine);
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
