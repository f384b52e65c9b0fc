// Two threads count lines under the lock of the stream. They count after they have given it back.
#include "program.h"

FILE* stream;
int lines;

static void* body(void* unused) {
  for (int i = 0; i < 20; i++) {
    flockfile(stream);
    fputs("line", stream);
    funlockfile(stream);
    lines++;  // RACE
  }
  return unused;
}

int main(void) {
  stream = fopen("/dev/null", "w");
  if (!stream) abort();
  run_two(body, body);
  fclose(stream);
  return 0;
}
