// An unaligned store crosses a page and covers the byte behind the border, which the other thread reads. gcc 12's tsan
// sees such races at every other byte of the store, but misses the one at this byte.
#include "program.h"

_Alignas(4096) char bytes[8192];
static void* wide(void* unused) {
  for (long i = 0; i < 100; ++i) {
    memcpy(bytes + 4093, &i, sizeof i);  // RACE
    use(i);
  }
  return unused;
}

static void* narrow(void* unused) {
  for (int i = 0; i < 100; ++i) {
    use(bytes[4096]);  // RACE
  }
  return unused;
}

int main(void) {
  run_two(wide, narrow);
  return 0;
}
