// A thread reads a file until another has written there.
#include <fcntl.h>

#include "twin.h"

static int file, data;

static void* body(void* unused) {
  pause_ms(1);
  if (!RACY) data = 2;
  if (pwrite(file, "done", 4, 100) != 4) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char text[5] = "";
  file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  if (file < 0) abort();
  pthread_t thread = start(body, NULL);
  while (pread(file, text, 4, 100) != 4) usleep(200);
  use(data);  // RACE
  join(thread);
  close(file);
  return 0;
}
