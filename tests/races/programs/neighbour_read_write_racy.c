// One thread reads the array up to and with the first element that the other one writes.
#include "program.h"

short cells[16];
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 8; ++j) sum += cells[j];  // RACE
    use(sum);
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 100; ++i) {
    for (int j = 7; j < 16; ++j) cells[j] = (short)i;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
