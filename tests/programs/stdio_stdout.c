// Threads print straight to standard output; which line comes when is natively nobody's promise.
#include "program.h"

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    printf("%c%d\n", (char)('a' + (long)number % 26), i);
    if (i % 5 == 0) sched_yield();
  }
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  puts("end");
  return 0;
}
