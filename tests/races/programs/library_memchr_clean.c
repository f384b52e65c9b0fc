// memchr finds a byte before those that another thread changes.
#include "program.h"

char bytes[64];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(memchr(bytes, 1, sizeof bytes) != NULL);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    bytes[11] = (char)(i % 2 ? 0 : 2);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  bytes[10] = 1;
  run_two(first, second);
  return 0;
}
