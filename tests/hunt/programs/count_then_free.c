// The count is lowered and then read: two threads may both find nought, and free twice.
#include "planted.h"

static int count = 2;
static volatile int freed;

static void* release(void* unused) {
#ifdef FIXED
  if (__atomic_sub_fetch(&count, 1, __ATOMIC_SEQ_CST) == 0) freed = freed + 1;
#else
  __atomic_sub_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&count, __ATOMIC_SEQ_CST) == 0) freed = freed + 1;
#endif
  return unused;
}

int main(void) {
  RUN(release, release);
  REQUIRE(freed == 1);
  return 0;
}
