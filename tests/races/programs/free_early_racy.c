// A thread gives a block back while another still reads it; the size keeps the allocator from returning its pages.
#include "program.h"

long* block;
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 20; ++i) {
    sum += block[10];  // RACE
    pause_ms(1);
  }
  use(sum);
  return unused;
}

static void* owner(void* unused) {
  pause_ms(8);
  free(block);  // RACE
  return unused;
}

int main(void) {
  block = (long*)calloc(32, sizeof(long));
  run_two(reader, owner);
  return 0;
}
