// A thread fills a page that another thread maps anew at the same address, without order between them.
#include "program.h"

#include <sys/mman.h>

char* page;
static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    page[i % 4] = (char)i;  // RACE
    usleep(100);
  }
  return unused;
}

static void* mapper(void* unused) {
  for (int i = 0; i < 4; ++i) {
    usleep(300);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    page[i] = 1;  // RACE
  }
  return unused;
}

int main(void) {
  page = (char*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  run_two(body, mapper);
  return 0;
}
