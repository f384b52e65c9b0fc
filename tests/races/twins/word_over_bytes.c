// One thread stores a byte, another one a word over it.
#include "twin.h"

static union {
  unsigned char bytes[8];
  unsigned int words[2];
} both;

static void* byte(void* unused) {
  both.bytes[RACY ? 2 : 6] = 1;  // RACE
  return unused;
}

static void* word(void* unused) {
  both.words[0] = 0;  // RACE
  return unused;
}

int main(void) {
  run_two(byte, word);
  use(both.words[1]);
  return 0;
}
