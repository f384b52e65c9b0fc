// Two threads set different bit-fields of one int; in the clean twin the second begins a new int.
#include "twin.h"

static struct {
  unsigned first : 4;
#if !RACY
  unsigned : 0;
#endif
  unsigned second : 4;
} flags;

static void* one(void* unused) {
  for (unsigned i = 0; i < 10; ++i) flags.first = i;  // RACE
  return unused;
}

static void* two(void* unused) {
  for (unsigned i = 0; i < 10; ++i) flags.second = i;  // RACE
  return unused;
}

int main(void) {
  run_two(one, two);
  return flags.first + flags.second > 0 ? 0 : 1;
}
