// What the kernel touches for a thread is looked at, and reaches it: closed pages are no EFAULT.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "threads.h"
static char *foreign, *shared;
static void *use(void *argument) {
  char *mine = (char *)weir_alloc(5000, WEIR_PRIVATE);
  struct iovec *vector = (struct iovec *)weir_alloc(2 * sizeof *vector, WEIR_PRIVATE);
  int pipes[2], status;
  pid_t child;
  (void)argument;
  if (pipe(pipes)) exit(4);
  strcpy(mine, "from one page to the next");
  vector[0].iov_base = mine;
  vector[0].iov_len = 10;
  vector[1].iov_base = mine + 10;
  vector[1].iov_len = 10;
  if (writev(pipes[1], vector, 2) != 20) exit(5);
  if (read(pipes[0], mine + 4090, 20) != 20 || memcmp(mine, mine + 4090, 20)) exit(6);
  if (write(pipes[1], foreign, 4) != 4) exit(7);  // REPORT policy forbidden access OTHER made LIBRARY
  if (read(pipes[0], shared, 4) != 4) exit(8);    // REPORT policy forbidden access LIBRARY
  if (memcmp(shared, "main", 4)) exit(9);
  child = fork();
  if (child == 0) {
    mine[0] = foreign[0] = shared[0] = 'c'; /* nothing is checked here, and nothing is closed */
    execl("/bin/sh", "sh", "-c", "true", (char *)NULL);
    _exit(3);
  }
  if (waitpid(child, &status, 0) != child || status) exit(10);
  if (mine[0] != 'f') exit(11);
  close(pipes[0]);
  close(pipes[1]);
  return NULL;
}
int main(void) {
  foreign = (char *)weir_alloc(100, WEIR_PRIVATE); /* IS made */
  shared = (char *)weir_alloc(100, WEIR_PRIVATE);
  strcpy(foreign, "main");
  strcpy(shared, "read");
  weir_acquire_read(shared);
  alone(use, NULL);
  return ok();
}
