// Two threads store different members of one union.
#include "twin.h"

union {
  int number;
  float real;
  char text[8];
} box[2];

static void* integer(void* unused) {
  box[0].number = 3;  // RACE
  return unused;
}

static void* character(void* unused) {
  box[RACY ? 0 : 1].text[2] = 'x';  // RACE
  return unused;
}

int main(void) {
  run_two(integer, character);
  return 0;
}
