// madvise(MADV_DONTNEED) makes zeros of what another thread reads.
#include <sys/mman.h>

#include "twin.h"

static int* pages;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* clear(void* unused) {
  guard(&mutex);
  if (madvise(pages, 8192, MADV_DONTNEED)) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(3);
  guard(&mutex);
  use(pages[8]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) abort();
  pages[8] = 1;
  run_two(clear, look);
  return 0;
}
