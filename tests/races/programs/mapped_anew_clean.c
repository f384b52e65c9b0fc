// Each thread maps a page, fills it and unmaps it; the kernel gives the same address to the one and then to the other.
#include "program.h"

#include <sys/mman.h>

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    char* page = (char*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) abort();
    page[i] = (char)i;
    munmap(page, 4096);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
