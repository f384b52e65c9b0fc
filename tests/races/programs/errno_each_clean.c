// errno is each thread's own: two threads may fail at the same time.
#include "program.h"

static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    errno = 0;
    if (close(-1) == 0 || errno != EBADF) abort();
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
