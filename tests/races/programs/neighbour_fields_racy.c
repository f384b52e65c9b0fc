// Each thread has a field of the struct; both write also the small field between.
#include "program.h"

struct Pair {
  short left;
  char shared;
  char right;
} pair = {0, 1, 0};
static void* left(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pair.left = (short)(i + pair.shared);
    pair.shared = 1;  // RACE
  }
  return unused;
}

static void* right(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pair.right = (char)(i + 1);
    pair.shared = 2;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(left, right);
  return 0;
}
