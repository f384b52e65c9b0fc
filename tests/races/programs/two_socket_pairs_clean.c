// Two socket pairs. The state is set before the message that is heard.
#include <sys/socket.h>

#include "program.h"

int first[2], second[2], state;

static void* teller(void* unused) {
  state = 5;
  if (send(first[1], "x", 1, 0) != 1 || send(second[1], "x", 1, 0) != 1) abort();
  return unused;
}

static void* listener(void* unused) {
  char byte;
  pause_ms(30);
  if (recv(first[0], &byte, 1, 0) != 1) abort();
  use(state);
  return unused;
}

int main(void) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) != 0) abort();
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, second) != 0) abort();
  run_two(teller, listener);
  return 0;
}
