// Two socket pairs. The state is set between two messages, of which one is heard.
#include <sys/socket.h>

#include "program.h"

int first[2], second[2], state;

static void* teller(void* unused) {
  if (send(first[1], "x", 1, 0) != 1) abort();
  state = 5;  // RACE
  if (send(second[1], "x", 1, 0) != 1) abort();
  return unused;
}

static void* listener(void* unused) {
  char byte;
  pause_ms(30);
  if (recv(first[0], &byte, 1, 0) != 1) abort();
  use(state);  // RACE
  return unused;
}

int main(void) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) != 0) abort();
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, second) != 0) abort();
  run_two(teller, listener);
  return 0;
}
