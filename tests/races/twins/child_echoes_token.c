// A child process hands a token from one thread to another.
#include <sys/wait.h>

#include "twin.h"

static int to_child[2], from_child[2], data;

static void* body(void* unused) {
  if (!RACY) data = 2;
  if (write(to_child[1], "x", 1) != 1) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char token;
  if (pipe(to_child) != 0 || pipe(from_child) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    if (read(to_child[0], &token, 1) != 1 || write(from_child[1], &token, 1) != 1) _exit(1);
    _exit(0);
  }
  pthread_t thread = start(body, NULL);
  if (read(from_child[0], &token, 1) != 1) abort();
  use(data);  // RACE
  join(thread);
  waitpid(child, NULL, 0);
  return 0;
}
