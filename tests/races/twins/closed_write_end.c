// A reader sees that another thread has closed the pipe's other end.
#include "twin.h"

static int ends[2], data;

static void* body(void* unused) {
  if (!RACY) data = 2;
  close(ends[1]);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char token;
  if (pipe(ends) != 0) abort();
  pthread_t thread = start(body, NULL);
  if (read(ends[0], &token, 1) != 0) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
