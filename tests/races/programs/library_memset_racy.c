// memset clears all of the buffer, also the half in which the other thread writes. gcc's tsan misses it where the
// compiler puts the memset's instructions in place.
#include "program.h"

char buffer[512];
static void* clearer(void* unused) {
  for (int i = 0; i < 50; ++i) {
    memset(buffer, 0, 512);  // RACE
    use(i);
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 256; ++i) buffer[256 + i] = (char)i;  // RACE
  return unused;
}

int main(void) {
  run_two(clearer, writer);
  return 0;
}
