// Huge pages are there or not, whether threads exist or do not: mmap says the same, for private and
// shared memory, of each size. What it gives can be written to its end and be unmapped.
#include "program.h"

enum { kKinds = 4 };

static const int kFlags[kKinds] = {MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | 21 << 26,
                                   MAP_PRIVATE | 30 << 26};
static const size_t kSize[kKinds] = {2 << 20, 2 << 20, 3 << 20, 1 << 30};

// 0, or the error.
static int try_huge(int kind) {
  char* memory = (char*)mmap(NULL, kSize[kind], PROT_READ | PROT_WRITE,
                             kFlags[kind] | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (memory == MAP_FAILED) return errno;
  memory[0] = memory[kSize[kind] - 1] = 1;
  const size_t huge = kind == 3 ? 1 << 30 : 2 << 20;
  CHECK_EQ(munmap(memory, (kSize[kind] + huge - 1) / huge * huge), 0);
  return 0;
}

static int g_before[kKinds], g_differs;

static void* work(void* unused) {
  for (int kind = 0; kind < kKinds; kind++) g_differs += try_huge(kind) != g_before[kind];
  return unused;
}

int main(void) {
  pthread_t thread;
  for (int kind = 0; kind < kKinds; kind++) g_before[kind] = try_huge(kind);
  CHECK_EQ(pthread_create(&thread, NULL, work, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  work(NULL);
  printf("differ: %d\n", g_differs);
  return 0;
}
