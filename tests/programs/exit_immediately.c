// _exit in a thread ends all threads at once, without atexit handlers and without writing buffered
// output.
#include "program.h"

static void handler(void) { puts("must not run"); }

static void* leaves(void* unused) {
  CHECK_EQ(write(STDOUT_FILENO, "written\n", 8), 8);
  printf("buffered");
  _exit(24);
  return unused;
}

int main(void) {
  pthread_t thread;
  setvbuf(stdout, NULL, _IOFBF, 4096);
  CHECK_EQ(atexit(handler), 0);
  CHECK_EQ(pthread_create(&thread, NULL, leaves, NULL), 0);
  for (;;) sched_yield();
}
