// Regions that one thread grows by mremap, frees in part by madvise or extends by sbrk are so for
// every thread.
#include "program.h"

static char *region, *heap_end;
static size_t size = 65536;
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number;
  for (int round = 0; round < 4; ++round) {
    if (me == round % 2) {
      region = (char*)mremap(region, size, size * 4, MREMAP_MAYMOVE);
      CHECK(region != MAP_FAILED);
      size *= 4;
    }
    pthread_barrier_wait(&barrier);
    CHECK_EQ(region[100], 'k');
    region[size - 1 - (size_t)me] = (char)('0' + me);
    pthread_barrier_wait(&barrier);
    CHECK_EQ(region[size - 1], '0');
    CHECK_EQ(region[size - 2], '1');
    pthread_barrier_wait(&barrier);
  }
  if (me == 0) CHECK_EQ(madvise(region + 4096, 8192, MADV_DONTNEED), 0);
  if (me == 1) {
    heap_end = (char*)sbrk(1 << 20);
    CHECK(heap_end != (char*)-1);
    memset(heap_end, 'h', 1 << 20);
  }
  pthread_barrier_wait(&barrier);
  CHECK_EQ(region[5000], 0);
  CHECK_EQ(region[100], 'k');
  CHECK_EQ(heap_end[1000000], 'h');
  CHECK((char*)sbrk(0) >= heap_end + (1 << 20));
  return NULL;
}

int main(void) {
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  region = (char*)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(region != MAP_FAILED);
  memset(region, 'k', size);
  run_threads(2, body);
  printf("grown to %zu\n", size);
  return 0;
}
