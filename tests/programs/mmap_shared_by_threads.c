// A mapping that one thread makes, private or shared, is memory of all threads until one of them
// unmaps it.
#include "program.h"

enum { kSize = 1 << 20 };
static char* volatile regions[2];
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number;
  for (int kind = 0; kind < 2; ++kind) {
    if (me == kind) {
      int flags = MAP_ANONYMOUS | (kind ? MAP_SHARED : MAP_PRIVATE);
      regions[kind] = (char*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, flags, -1, 0);
      CHECK(regions[kind] != MAP_FAILED);
    }
    pthread_barrier_wait(&barrier);
    regions[kind][me * 4096 + me] = (char)(me + 1);
    regions[kind][kSize - 1 - me] = (char)(me + 50);  // All threads write to the same last page.
    pthread_barrier_wait(&barrier);
    for (long i = 0; i <= me; ++i) {
      CHECK_EQ(regions[kind][i * 4096 + i], i + 1);
      CHECK_EQ(regions[kind][kSize - 1 - i], i + 50);
    }
    pthread_barrier_wait(&barrier);
    if (me == 1) CHECK_EQ(munmap((void*)regions[kind], kSize / 2), 0);
    pthread_barrier_wait(&barrier);
    unsigned char resident;
    CHECK(mincore((void*)regions[kind], 4096, &resident) == -1 && errno == ENOMEM);
    CHECK_EQ(regions[kind][kSize - 1], 50);
    pthread_barrier_wait(&barrier);
    if (me == 0) CHECK_EQ(munmap((void*)(regions[kind] + kSize / 2), kSize / 2), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  if (threads < 2) threads = 2;
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  puts("mappings shared");
  return 0;
}
