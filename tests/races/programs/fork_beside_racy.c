// A thread changes the value while main writes it before and after a fork; the child changes a copy and ends.
#include "program.h"

#include <sys/wait.h>

int value;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) value += i, usleep(20);  // RACE
  return unused;
}

int main(void) {
  int status;
  pthread_t thread = start(body, NULL);
  value = 1;  // RACE
  pid_t child = fork();
  if (child == 0) {
    value = -1;
    _exit(0);
  }
  waitpid(child, &status, 0);
  value = 2;  // RACE
  join(thread);
  return status;
}
