// errno is each thread's own, but both threads copy it to one plain variable.
#include "program.h"

int last_error;
static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) {
    errno = 0;
    if (close(-1) == 0 || errno != EBADF) abort();
    last_error = errno;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return last_error != EBADF;
}
