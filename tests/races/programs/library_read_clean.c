// read() lets the kernel write into a buffer that another thread looks at after a semaphore only.
#include "program.h"

#include <fcntl.h>

char block[256];
sem_t there;
static void* loader(void* unused) {
  int file = open("/dev/zero", O_RDONLY);
  if (read(file, block, sizeof block) != sizeof block) abort();
  sem_post(&there);
  close(file);
  return unused;
}

static void* looker(void* unused) {
  sem_wait(&there);
  for (int i = 0; i < 256; ++i) use(block[i]);
  return unused;
}

int main(void) {
  sem_init(&there, 0, 0);
  run_two(loader, looker);
  return 0;
}
