// A file gets its name when all is written.
#include <fcntl.h>

#include "twin.h"

static char draft[64], name[64];
static int data;

static void* body(void* unused) {
  close(open(draft, O_CREAT | O_RDWR, 0600));
  pause_ms(2);
  if (!RACY) data = 2;
  if (rename(draft, name) != 0) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  snprintf(draft, sizeof draft, "/tmp/weir_file_draft_%d", (int)getpid());
  snprintf(name, sizeof name, "/tmp/weir_file_renamed_%d", (int)getpid());
  pthread_t thread = start(body, NULL);
  while (access(name, F_OK) != 0) usleep(200);
  use(data);  // RACE
  join(thread);
  unlink(name);
  return 0;
}
