// quick_exit in a thread runs the at_quick_exit handlers only.
#include "program.h"

static void wrong(void) { CHECK(!"atexit handler ran"); }
static void right(void) { CHECK_EQ(write(STDOUT_FILENO, "quick\n", 6), 6); }

static void* leaves(void* unused) {
  quick_exit(25);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(atexit(wrong), 0);
  CHECK_EQ(at_quick_exit(right), 0);
  CHECK_EQ(pthread_create(&thread, NULL, leaves, NULL), 0);
  for (;;) pause();
}
