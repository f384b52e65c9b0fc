// strtol reads the digits of a number that another thread counts up.
#include "program.h"

char digits[16] = "1000";
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(strtol(digits, NULL, 10));  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    digits[3] = (char)('0' + i % 10);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
