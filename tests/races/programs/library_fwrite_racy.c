// fwrite takes bytes that another thread changes.
#include "program.h"

char bytes[64];
FILE* stream;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    if (fwrite(bytes, 1, sizeof bytes, stream) != sizeof bytes) abort();  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    bytes[i] = 1;  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  stream = fopen("/dev/null", "w");
  run_two(first, second);
  return 0;
}
