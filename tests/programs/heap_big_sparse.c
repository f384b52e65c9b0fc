// Allocations of 200 MB touched here and there by several threads work and cost only what is
// touched.
#include "program.h"

enum { kStride = 3 << 20 };
static const size_t kSize = 200u << 20;
static char* block;
static int threads;

static void* body(void* number) {
  char* own = (char*)malloc(kSize);
  CHECK(own);
  for (size_t i = (size_t)(long)number * kStride; i < kSize; i += (size_t)threads * kStride) {
    CHECK_EQ(block[i], 0);
    block[i] = (char)(1 + (long)number);
    own[i] = 'o';
  }
  free(own);
  return NULL;
}

int main(int argc, char** argv) {
  int marks = 0;
  threads = argument(argc, argv, 1, 4);
  block = (char*)calloc(1, kSize);
  CHECK(block);
  run_threads(threads, body);
  for (size_t i = 0, k = 0; i < kSize; i += kStride, ++k) {
    CHECK_EQ(block[i], 1 + (long)(k % (size_t)threads));
    ++marks;
  }
  block = (char*)realloc(block, kSize * 2);
  CHECK(block && block[0] == 1);
  free(block);
  printf("marks %d\n", marks);
  return 0;
}
