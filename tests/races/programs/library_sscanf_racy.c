// sscanf writes a number that another thread reads.
#include "program.h"

#include <stdio.h>

int number;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    sscanf(i % 2 ? "12" : "345", "%d", &number);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(number);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
