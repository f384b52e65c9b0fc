// abort in a thread kills the process by SIGABRT while others run.
#include "program.h"

static void* aborts(void* unused) {
  abort();
  return unused;
}

int main(void) {
  pthread_t thread;
  puts("before");
  fflush(stdout);
  CHECK_EQ(pthread_create(&thread, NULL, aborts, NULL), 0);
  for (;;) sched_yield();
}
