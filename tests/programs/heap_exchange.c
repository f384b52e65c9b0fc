// Blocks are allocated in one thread, grown in a second and freed in a third; contents are kept at
// all sizes.
#include "program.h"

enum { kBlocks = 24, kRounds = 12 };
static struct {
  unsigned char* bytes;
  size_t size;
} blocks[kBlocks];
static pthread_barrier_t barrier;
static int threads;

static void fill(int block, size_t from) {
  for (size_t i = from; i < blocks[block].size; ++i)
    blocks[block].bytes[i] = (unsigned char)(block * 7 + i);
}

static void verify(int block) {
  for (size_t i = 0; i < blocks[block].size; ++i) {
    CHECK_EQ(blocks[block].bytes[i], (unsigned char)(block * 7 + i));
  }
}

static void* body(void* number) {
  for (int round = 0; round < kRounds; ++round) {
    for (int b = 0; b < kBlocks; ++b) {
      if ((b + round) % threads != (int)(long)number) continue;
      size_t old = blocks[b].size, size = (size_t)1 << ((b + round * 5) % 18);
      if (round % 3 == 0) {
        free(blocks[b].bytes);
        blocks[b].bytes = (unsigned char*)malloc(size);
        old = 0;
      } else {
        verify(b);
        blocks[b].bytes = (unsigned char*)realloc(blocks[b].bytes, size);
        if (old > size) old = size;
      }
      CHECK(blocks[b].bytes && (uintptr_t)blocks[b].bytes % 16 == 0);
      blocks[b].size = size;
      fill(b, old);
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  for (int b = 0; b < kBlocks; ++b) {
    verify(b);
    free(blocks[b].bytes);
  }
  puts("contents kept");
  return 0;
}
