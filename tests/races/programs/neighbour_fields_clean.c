// Each thread writes only its own field of the struct; the field between is only read.
#include "program.h"

struct Pair {
  short left;
  char shared;
  char right;
} pair = {0, 1, 0};
static void* left(void* unused) {
  for (int i = 0; i < 100; ++i) { pair.left = (short)(i + pair.shared); }
  return unused;
}

static void* right(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pair.right = (char)(i + 1);
    use(pair.shared);
  }
  return unused;
}

int main(void) {
  run_two(left, right);
  return 0;
}
