// A forked child changes its own copy of the value while a thread of the parent changes the parent's.
#include "program.h"

#include <sys/wait.h>

int value;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) value += i, usleep(20);
  return unused;
}

int main(void) {
  int status;
  pthread_t thread = start(body, NULL);
  pid_t child = fork();
  if (child == 0) {
    value = -1;
    _exit(0);
  }
  waitpid(child, &status, 0);
  join(thread);
  return status;
}
