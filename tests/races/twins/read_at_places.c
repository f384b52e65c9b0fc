// Two threads read parts of a file to parts of a buffer, which overlap by a byte.
#include "twin.h"

static int file;
static char buffer[64];

static void* body(void* number) {
  const long at = 32 * (long)number;
  pause_ms(5 * (int)(long)number);
  if (pread(file, buffer + at, at ? 32 : 32 + RACY, at) < 32) abort();  // RACE
  return NULL;
}

int main(void) {
  file = fileno(tmpfile());
  if (write(file, buffer, sizeof buffer) != sizeof buffer) return 1;
  run_threads(2, body);
  use(buffer[32]);
  return 0;
}
