// An unaligned store crosses a page; the other thread reads the bytes just before and behind what it covers.
#include "program.h"

_Alignas(4096) char bytes[8192];
static void* wide(void* unused) {
  for (long i = 0; i < 100; ++i) {
    memcpy(bytes + 4093, &i, sizeof i);
    use(i);
  }
  return unused;
}

static void* narrow(void* unused) {
  for (int i = 0; i < 100; ++i) { use(bytes[4092] + bytes[4101]); }
  return unused;
}

int main(void) {
  run_two(wide, narrow);
  return 0;
}
