// One thread stores a byte of the word that another one stores whole.
#include "twin.h"

static union {
  unsigned whole;
  unsigned char bytes[8];
} word;

static void* whole(void* unused) {
  word.whole = 7;  // RACE
  return unused;
}

static void* byte(void* unused) {
  word.bytes[RACY ? 3 : 4] = 1;  // RACE
  return unused;
}

int main(void) {
  run_two(whole, byte);
  use(word.whole + word.bytes[5]);
  return 0;
}
