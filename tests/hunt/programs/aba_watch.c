// Waits by comparing a value with an earlier one: a change there and back is not seen.
#include "planted.h"

static volatile int mode, changes, seen;

static void* toggle(void* unused) {
  changes = changes + 1;
  mode = 1;
  changes = changes + 1;
  mode = 0;
  return unused;
}

static void* watch(void* unused) {
  FIX(seen = 2; return unused;)
  int before = mode;
  for (int i = 0; i < 50 && seen < 2; i++) {
    if (mode == before) continue;
    before = mode;
    seen = seen + 1;
  }
  if (changes == 2 && seen == 1) REQUIRE(!"a change was missed");
  return unused;
}

int main(void) {
  RUN(watch, toggle);
  return 0;
}
