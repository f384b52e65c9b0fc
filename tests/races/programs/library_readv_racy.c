// readv scatters into two parts; a second thread writes to one of them.
#include "program.h"

#include <sys/uio.h>

char parts[3][64];
int ends[2];
static void* loader(void* unused) {
  struct iovec vector[2] = {{parts[0], 64}, {parts[1], 64}};
  for (int i = 0; i < 10; ++i) {
    if (write(ends[1], "some bytes that are sent", 24) != 24) abort();
    if (readv(ends[0], vector, 2) != 24) abort();
    vector[0].iov_len = 8;
    if (write(ends[1], "some bytes that are sent", 24) != 24) abort();
    if (readv(ends[0], vector, 2) != 24) abort();  // RACE
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 16; ++i) parts[1][i] = (char)i;  // RACE
  return unused;
}

int main(void) {
  if (pipe(ends) != 0) return 1;
  run_two(loader, writer);
  return 0;
}
