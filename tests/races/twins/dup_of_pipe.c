// A token goes through a duplicate of a pipe's end; the racy reader reads from another pipe.
#include <fcntl.h>

#include "twin.h"

static int used[2], other[2], data;

static void* body(void* unused) {
  const int copy = fcntl(used[1], F_DUPFD_CLOEXEC, 50);
  data = 9;  // RACE
  if (write(copy, "x", 1) != 1) abort();
  close(copy);
  return unused;
}

int main(void) {
  char token;
  if (pipe(used) != 0 || pipe(other) != 0 || write(other[1], "y", 1) != 1) abort();
  pthread_t thread = start(body, NULL);
  if (RACY) pause_ms(10);
  if (read(dup(RACY ? other[0] : used[0]), &token, 1) != 1) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
