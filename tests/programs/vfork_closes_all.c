// A vfork child that closes every descriptor above 2 before it executes a program, as Python's
// subprocess does, from a program of one task and from one of two: the program that it executes
// runs.
#include "program.h"

extern char** environ;

static void* runs(void* closes_one_by_one) {
  char* arguments[] = {(char*)"sh", (char*)"-c", (char*)"exit 5", NULL};
  const pid_t child = vfork();
  if (child == 0) {
    if (closes_one_by_one) {
      for (int i = 3; i < 20000; i++) close(i);
    } else {
      syscall(SYS_close_range, 3u, ~0u, 0);
    }
    execve("/bin/sh", arguments, environ);
    _exit(99);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 5);
  return NULL;
}

int main(void) {
  runs(NULL);
  runs((void*)1);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, runs, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("vfork_closes_all: ok");
  return 0;
}
