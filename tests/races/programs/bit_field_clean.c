// A bit field of width 0 parts the two fields: they are locations of their own.
#include "program.h"

struct Flags {
  unsigned left : 4;
  unsigned : 0;
  unsigned right : 4;
};
struct Flags flags;
static void* set_left(void* unused) {
  for (unsigned i = 0; i < 100; ++i) flags.left = i & 15, use(i);
  return unused;
}

static void* set_right(void* unused) {
  for (unsigned i = 0; i < 100; ++i) flags.right = i & 15, use(i);
  return unused;
}

int main(void) {
  run_two(set_left, set_right);
  return flags.left == 3 ? 0 : flags.left > 15;
}
