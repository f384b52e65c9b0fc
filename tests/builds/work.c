// Four threads allocate, hand over and free blocks under a mutex, and race on one variable of which
// nothing is printed.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 4, kRounds = 300, kKept = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* kept[kKept + 1];
static size_t used;
static unsigned long long total;
static volatile size_t last_size;  // the race

static void* run(void* argument) {
  const uintptr_t self = (uintptr_t)argument;
  for (uintptr_t i = 0; i < kRounds; i++) {
    const size_t size = 16 + (self * 37 + i * 101) % 4000;
    char* block = malloc(size);
    memset(block, (int)(self + i), size);
    last_size = size;
    pthread_mutex_lock(&lock);
    total += (unsigned char)block[size - 1] * size;
    kept[used++] = block;
    if (used > kKept) free(kept[--used]);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, run, (void*)(i + 1));
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  while (used) free(kept[--used]);
  printf("%llu\n", total);
  return 0;
}
