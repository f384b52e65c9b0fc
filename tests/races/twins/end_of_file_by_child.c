// A program that a thread starts ends at once, and another thread sees the end of its output.
#include <spawn.h>
#include <sys/wait.h>

#include "twin.h"

extern char** environ;
static int out[2], data;

static void* body(void* unused) {
  char* words[] = {"true", NULL};
  pid_t child;
  if (!RACY) data = 2;
  if (posix_spawnp(&child, "true", NULL, NULL, words, environ) != 0) abort();
  close(out[1]);
  if (RACY) data = 3;  // RACE
  waitpid(child, NULL, 0);
  return unused;
}

int main(void) {
  char token;
  if (pipe(out) != 0) abort();
  pthread_t thread = start(body, NULL);
  if (read(out[0], &token, 1) != 0) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
