// A thread that sends SIGTERM to its own process ends it by that signal.
#include "program.h"

static void* kills(void* unused) {
  kill(getpid(), SIGTERM);
  return unused;
}

int main(void) {
  pthread_t thread;
  puts("before");
  fflush(stdout);
  CHECK_EQ(pthread_create(&thread, NULL, kills, NULL), 0);
  for (;;) pause();
}
