// Two copies into one buffer meet in its middle, or end before it.
#include "twin.h"

static char target[2000], zeros[1200], ones[1200];
static size_t length = RACY ? 1100 : 1000;

static void* front(void* unused) {
  memcpy(target, ones, length);  // RACE
  return unused;
}

static void* back(void* unused) {
  memcpy(target + 2000 - length, zeros, length);  // RACE
  return unused;
}

int main(void) {
  memset(ones, 1, sizeof ones);
  run_two(front, back);
  use(target[1000]);
  return 0;
}
