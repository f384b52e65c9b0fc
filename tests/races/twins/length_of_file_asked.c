// A file's length says that another thread has written.
#include <fcntl.h>
#include <sys/stat.h>

#include "twin.h"

static int file, data;

static void* body(void* unused) {
  pause_ms(1);
  if (!RACY) data = 2;
  if (ftruncate(file, 4096) != 0) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  struct stat status = {.st_size = 0};
  file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  if (file < 0) abort();
  pthread_t thread = start(body, NULL);
  while (fstat(file, &status) == 0 && status.st_size == 0) usleep(200);
  use(data);  // RACE
  join(thread);
  close(file);
  return 0;
}
