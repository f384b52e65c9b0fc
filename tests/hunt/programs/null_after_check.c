// A pointer is looked at twice: whether it leads anywhere, and where.
#include "planted.h"

static int value = 3;
static int* volatile current = &value;

static void* use(void* unused) {
  for (int i = 0; i < 5; i++) {
    FIX(lock();)
    if (current) REQUIRE(*current == 3);
    FIX(unlock();)
  }
  return unused;
}

static void* clear(void* unused) {
  usleep(1);
  FIX(lock();)
  current = NULL;
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(use, use, clear);
  return 0;
}
