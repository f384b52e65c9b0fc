// Two threads write alternate bytes of one word: false sharing, but no race.
#include "program.h"

unsigned char bytes[8];
static void* even(void* unused) {
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 8; j += 2) bytes[j] = (unsigned char)i;
    use(i);
  }
  return unused;
}

static void* odd(void* unused) {
  for (int i = 0; i < 200; ++i) {
    for (int j = 1; j < 8; j += 2) bytes[j] = (unsigned char)i;
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(even, odd);
  return 0;
}
