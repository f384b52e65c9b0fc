// An unaligned store crosses a cache line and ends just before the byte that the other thread writes.
#include "program.h"

_Alignas(4096) char bytes[256];
static void* wide(void* unused) {
  for (long i = 0; i < 100; ++i) {
    memcpy(bytes + 60, &i, sizeof i);
    use(i);
  }
  return unused;
}

static void* narrow(void* unused) {
  for (int i = 0; i < 100; ++i) {
    bytes[68] = (char)i;
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(wide, narrow);
  return 0;
}
