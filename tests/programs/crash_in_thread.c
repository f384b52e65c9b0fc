// A store through a bad pointer in a thread kills the process by SIGSEGV while others sleep.
#include "program.h"

static void* crashes(void* address) {
  *(volatile int*)address = 1;
  return NULL;
}

int main(void) {
  pthread_t thread;
  puts("before");
  fflush(stdout);
  CHECK_EQ(pthread_create(&thread, NULL, crashes, (void*)64), 0);
  for (;;) sleep(1000);
}
