// Two bit fields that share a word are one memory location: each thread changes its own field and writes the other's
// bits too.
#include "program.h"

struct Flags {
  unsigned left : 4;
  unsigned right : 4;
};
struct Flags flags;
static void* set_left(void* unused) {
  for (unsigned i = 0; i < 100; ++i) flags.left = i & 15, use(i);  // RACE
  return unused;
}

static void* set_right(void* unused) {
  for (unsigned i = 0; i < 100; ++i) flags.right = i & 15, use(i);  // RACE
  return unused;
}

int main(void) {
  run_two(set_left, set_right);
  return flags.left == 3 ? 0 : flags.left > 15;
}
