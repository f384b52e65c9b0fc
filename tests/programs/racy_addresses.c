// Addresses from malloc and from mmap in several threads at once, and those of stacks, are folded
// into one number.
#include "program.h"

static uint64_t folds[kMaxThreads];

static void* body(void* number) {
  uint64_t fold = (uint64_t)(uintptr_t)&number;
  void* kept[20];
  for (int i = 0; i < 20; ++i) {
    kept[i] = malloc((size_t)(i * 700 % 5000 + 1));
    fold = (fold ^ (uint64_t)(uintptr_t)kept[i]) * 0x100000001b3u;
    if (i % 5 == 0) {
      void* mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      CHECK(mapped != MAP_FAILED);
      fold = (fold ^ (uint64_t)(uintptr_t)mapped) * 0x100000001b3u;
      if (i % 2) CHECK_EQ(munmap(mapped, 65536), 0);
    }
    if (i % 3 == 0) free(kept[i]);
  }
  folds[(long)number] = fold;
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  uint64_t fold = 0;
  run_threads(threads, body);
  for (int i = 0; i < threads; ++i) fold = (fold ^ folds[i]) * 0x100000001b3u;
  printf("addresses %016llx\n", (unsigned long long)fold);
  return 0;
}
