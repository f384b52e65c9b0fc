// recv() fills a buffer that another thread looks at.
#include <sys/socket.h>

#include "twin.h"

static char text[64];
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* receive(void* unused) {
  guard(&mutex);
  if (recv(ends[0], text, sizeof text, 0) != 5) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(3);
  guard(&mutex);
  use(text[2]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[1], "hello", 5, 0) != 5) abort();
  run_two(receive, look);
  return 0;
}
