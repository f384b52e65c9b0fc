// A request goes through a socket pair and its reply through memory, announced by a byte the other way.
#include "program.h"

#include <sys/socket.h>

int ends[2], reply;
static void* server(void* unused) {
  char byte;
  if (read(ends[1], &byte, 1) != 1) abort();
  reply = byte + 1;
  if (write(ends[1], &byte, 1) != 1) abort();
  return unused;
}

int main(void) {
  char byte = 5;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  pthread_t thread = start(server, NULL);
  if (write(ends[0], &byte, 1) != 1) abort();
  if (read(ends[0], &byte, 1) != 1) abort();
  use(reply);
  join(thread);
  return 0;
}
