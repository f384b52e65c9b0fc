// A volatile state machine that one thread steps; the other one starts after it has ended.
#include "program.h"

volatile int state;
static void* stepper(void* unused) {
  for (int i = 0; i < 100; ++i) state = (state + 1) % 5;
  return unused;
}

int main(void) {
  join(start(stepper, NULL));
  join(start(stepper, NULL));
  return 0;
}
