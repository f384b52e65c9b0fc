// The block is given back only after its reader was joined.
#include "program.h"

long* block;
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 20; ++i) {
    sum += block[10];
    pause_ms(1);
  }
  use(sum);
  return unused;
}

static void* owner(void* unused) {
  pause_ms(8);
  return unused;
}

int main(void) {
  block = (long*)calloc(32, sizeof(long));
  run_two(reader, owner);
  free(block);
  return 0;
}
