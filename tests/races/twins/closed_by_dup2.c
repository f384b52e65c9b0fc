// A pipe's last end to write to becomes another file (dup2), which its reader is told.
#include <fcntl.h>

#include "twin.h"

static int ends[2], data;

static void* body(void* unused) {
  const int other = open("/dev/null", O_WRONLY);
  if (!RACY) data = 2;
  if (dup2(other, ends[1]) != ends[1]) abort();
  if (RACY) data = 3;  // RACE
  close(other);
  return unused;
}

int main(void) {
  char token;
  if (pipe(ends) != 0) abort();
  pthread_t thread = start(body, NULL);
  if (read(ends[0], &token, 1) != 0) abort();
  use(data);  // RACE
  join(thread);
  close(ends[1]);
  return 0;
}
