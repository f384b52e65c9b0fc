// Two threads grow, shrink and free buffers of up to 8 KiB.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSlots = 256 };

static void* work(void* seed) {
  unsigned random = (unsigned)(size_t)seed;
  size_t sum = 0;
  char* slots[kSlots] = {0};
  for (int i = 0; i < 40000; i++) {
    random = random * 1664525u + 1013904223u;
    const unsigned at = random >> 8 & (kSlots - 1);
    const size_t size = 16 + (random >> 16 & 8191);
    slots[at] = realloc(slots[at], size);
    memset(slots[at], i, size);
    sum += (unsigned char)slots[at][size / 2];
    if (random & 1 << 30) {
      free(slots[at]);
      slots[at] = NULL;
    }
  }
  for (int i = 0; i < kSlots; i++) free(slots[i]);
  return (void*)sum;
}

int main(void) {
  pthread_t threads[2];
  void* sums[2];
  for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &sums[i]);
  printf("%zu\n", (size_t)sums[0] + (size_t)sums[1]);
}
