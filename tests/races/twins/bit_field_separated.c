// Two threads change two bit-fields, which lie in one word unless a field of no width is between.
#include "twin.h"

static struct {
  unsigned first : 6;
#if !RACY
  unsigned : 0;
#endif
  unsigned second : 5;
} flags;

static void* one(void* unused) {
  for (int i = 0; i < 3; ++i) flags.first += 1;  // RACE
  return unused;
}

static void* two(void* unused) {
  for (int i = 0; i < 3; ++i) flags.second += 1;  // RACE
  return unused;
}

int main(void) {
  run_two(one, two);
  use(flags.first + flags.second);
  return 0;
}
