// A thread is told of a new file by inotify.
#include <fcntl.h>
#include <sys/inotify.h>

#include "twin.h"

static char folder[64], name[96];
static int data;

static void* body(void* unused) {
  if (!RACY) data = 2;
  close(open(name, O_CREAT | O_RDWR, 0600));
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char events[512];
  snprintf(folder, sizeof folder, "/tmp/weir_inotify_%d_XXXXXX", (int)getpid());
  if (mkdtemp(folder) == NULL) abort();
  snprintf(name, sizeof name, "%s/made", folder);
  const int watch = inotify_init();
  if (inotify_add_watch(watch, folder, IN_CREATE) < 0) abort();
  pthread_t thread = start(body, NULL);
  if (read(watch, events, sizeof events) <= 0) abort();
  use(data);  // RACE
  join(thread);
  unlink(name);
  rmdir(folder);
  return 0;
}
