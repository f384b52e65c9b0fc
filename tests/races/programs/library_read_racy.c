// read() lets the kernel write into a buffer that another thread looks at.
#include "program.h"

#include <fcntl.h>

char block[256];
static void* loader(void* unused) {
  int file = open("/dev/zero", O_RDONLY);
  if (read(file, block, sizeof block) != sizeof block) abort();  // RACE
  close(file);
  return unused;
}

static void* looker(void* unused) {
  for (int i = 0; i < 256; ++i) use(block[i]);  // RACE
  return unused;
}

int main(void) {
  run_two(loader, looker);
  return 0;
}
