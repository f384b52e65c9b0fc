// A thread shuts down a socket that another one reads from.
#include <sys/socket.h>

#include "twin.h"

static int ends[2], data;

static void* body(void* unused) {
  pause_ms(1);
  if (!RACY) data = 2;
  shutdown(ends[0], SHUT_RDWR);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char token;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
  pthread_t thread = start(body, NULL);
  if (read(ends[0], &token, 1) != 0) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
