// Two threads add to one counter without any lock: all their additions race.
#include "program.h"

long counter;
static void* body(void* unused) {
  for (int i = 0; i < 1000; ++i) {
    counter = counter + 1;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return counter > 0 ? 0 : 1;
}
