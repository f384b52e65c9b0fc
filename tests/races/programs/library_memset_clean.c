// memset clears the one half of the buffer while the other thread writes in the other half.
#include "program.h"

char buffer[512];
static void* clearer(void* unused) {
  for (int i = 0; i < 50; ++i) {
    memset(buffer, 0, 256);
    use(i);
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 256; ++i) buffer[256 + i] = (char)i;
  return unused;
}

int main(void) {
  run_two(clearer, writer);
  return 0;
}
