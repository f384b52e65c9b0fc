// One thread writes a word, and another half of it through a union.
#include "twin.h"

static union {
  uint64_t whole;
  uint32_t halves[2];
} both[2];

static void* body(void* number) {
  if ((long)number == 0) both[0].whole = 1;      // RACE
  else both[RACY ? 0 : 1].halves[1] = 2;         // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use((long)both[0].whole);
  return 0;
}
