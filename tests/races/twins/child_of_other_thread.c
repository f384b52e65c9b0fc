// A thread makes a child process, and another one waits for any child.
#include <sys/wait.h>

#include "twin.h"

static int data;

static void* body(void* unused) {
  pause_ms(2);
  if (!RACY) data = 2;
  if (fork() == 0) _exit(3);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  int status;
  pthread_t thread = start(body, NULL);
  while (waitpid(-1, &status, 0) < 0) usleep(200);
  use(data);  // RACE
  join(thread);
  return 0;
}
