// A thread looks until a file is there, which another makes when it has written.
#include <fcntl.h>
#include <sys/stat.h>

#include "twin.h"

static char name[64];
static int data;

static void* body(void* unused) {
  pause_ms(2);
  if (!RACY) data = 2;
  close(open(name, O_CREAT | O_RDWR, 0600));
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  struct stat status;
  snprintf(name, sizeof name, "/tmp/weir_file_appears_%d", (int)getpid());
  pthread_t thread = start(body, NULL);
  while (stat(name, &status) != 0) usleep(200);
  use(data);  // RACE
  join(thread);
  unlink(name);
  return 0;
}
