// Hundreds of threads with large stacks, and blocks of all sizes: an address sanitizer clears
// shadow memory for each of them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 4, kRounds = 100, kBlocks = 400, kLarge = 20 << 20 };

static void* run(void* argument) {
  char local[20000];
  memset(local, 1, sizeof local);
  char* block = malloc(100000);
  block[5] = local[7];
  free(block);
  return argument;
}

static void* grow(void* argument) {
  char* blocks[kBlocks];
  long sum = 0;
  for (int i = 0; i < kBlocks; i++) {
    const size_t size = (size_t)(i * 7919) % 60000 + 16;
    blocks[i] = malloc(size);
    memset(blocks[i], i, size);
    sum += blocks[i][size - 1];
  }
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  char* large = malloc(kLarge);
  memset(large, 1, kLarge);
  sum += large[kLarge / 2];
  free(large);
  return (void*)sum;
}

static long all(void* (*function)(void*), const pthread_attr_t* attributes) {
  pthread_t threads[kThreads];
  long sum = 0;
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], attributes, function, NULL);
  for (int i = 0; i < kThreads; i++) {
    void* part;
    pthread_join(threads[i], &part);
    sum += (long)part;
  }
  return sum;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  for (int i = 0; i < kRounds; i++) all(run, &attributes);
  printf("%ld\n", all(grow, NULL));
  return 0;
}
