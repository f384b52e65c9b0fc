// A volatile state machine that a second thread steps as well.
#include "program.h"

volatile int state;
static void* stepper(void* unused) {
  for (int i = 0; i < 100; ++i) state = (state + 1) % 5;  // RACE
  return unused;
}

int main(void) {
  run_two(stepper, stepper);
  return 0;
}
