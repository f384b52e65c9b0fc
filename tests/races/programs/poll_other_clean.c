// A thread is told of one pipe by poll, and reads what another wrote. That was written before either.
#include <poll.h>

#include "program.h"

int first[2], second[2], state;

static void* teller(void* unused) {
  state = 5;
  if (write(first[1], "x", 1) != 1 || write(second[1], "x", 1) != 1) abort();
  return unused;
}

static void* listener(void* unused) {
  char byte;
  struct pollfd wanted = {first[0], POLLIN, 0};
  pause_ms(30);
  if (poll(&wanted, 1, -1) != 1 || read(first[0], &byte, 1) != 1) abort();
  use(state);
  return unused;
}

int main(void) {
  if (pipe(first) != 0 || pipe(second) != 0) abort();
  run_two(teller, listener);
  return 0;
}
