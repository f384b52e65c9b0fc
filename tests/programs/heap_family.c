// The whole malloc family in every thread: zeroed calloc of used memory, alignments, usable sizes,
// overflow refused.
#include <malloc.h>
#include "program.h"

static void* body(void* number) {
  unsigned seed = (unsigned)(long)number + 1;
  for (int i = 0; i < 60; ++i) {
    size_t size = (size_t)(rand_r(&seed) % 5000) + 1, align = (size_t)16 << (i % 9);
    char* dirty = (char*)malloc(size);
    memset(dirty, 0xff, size);
    CHECK(malloc_usable_size(dirty) >= size);
    free(dirty);
    char* zeroed = (char*)calloc(size, 3);
    for (size_t k = 0; k < size * 3; ++k) CHECK_EQ(zeroed[k], 0);
    zeroed = (char*)reallocarray(zeroed, size, 4);
    memset(zeroed, 1, size * 4);
    free(zeroed);
    void* aligned = NULL;
    CHECK_EQ(posix_memalign(&aligned, align, size), 0);
    CHECK_EQ((uintptr_t)aligned % align, 0);
    memset(aligned, 2, size);
    free(aligned);
    aligned = aligned_alloc(align, align * 2);
    CHECK_EQ((uintptr_t)aligned % align, 0);
    free(aligned);
    aligned = memalign(align, size);
    CHECK_EQ((uintptr_t)aligned % align, 0);
    free(aligned);
  }
  void* page = valloc(100);
  CHECK_EQ((uintptr_t)page % 4096, 0);
  free(page);
  void* refused = NULL;
  volatile size_t huge = SIZE_MAX / 2 + 1;
  CHECK_EQ(posix_memalign(&refused, 3, 100), EINVAL);
  errno = 0;
  CHECK(calloc(huge, 4) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(malloc(huge) == NULL && errno == ENOMEM);
  void* none = malloc(0);
  CHECK(none != NULL);
  free(none);
  free(NULL);
  char* copy = strdup("copied");
  CHECK(strcmp(copy, "copied") == 0);
  free(copy);
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  puts("family complete");
  return 0;
}
