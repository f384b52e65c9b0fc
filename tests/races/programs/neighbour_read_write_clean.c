// One thread reads the first half of the array, the other writes the second half: nothing is shared but cache lines.
#include "program.h"

short cells[16];
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 8; ++j) sum += cells[j];
    use(sum);
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 100; ++i) {
    for (int j = 8; j < 16; ++j) cells[j] = (short)i;
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
