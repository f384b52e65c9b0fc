// A byte is written to a pipe before the data that it announces.
#include "program.h"

int ends[2], data;
static void* consumer(void* unused) {
  char token;
  if (read(ends[0], &token, 1) != 1) abort();
  use(data);  // RACE
  return unused;
}

static void* producer(void* unused) {
  pause_ms(1);
  if (write(ends[1], "x", 1) != 1) abort();
  data = 9;  // RACE
  return unused;
}

int main(void) {
  if (pipe(ends) != 0) return 1;
  run_two(consumer, producer);
  return 0;
}
