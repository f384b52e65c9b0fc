// Planted: a thread reads a block that main has freed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static int* block;

static void* read_late(void* argument) {
  pthread_barrier_wait(&barrier);
  return (void*)(long)block[3];
}

int main(void) {
  pthread_t thread;
  void* seen;
  pthread_barrier_init(&barrier, NULL, 2);
  block = malloc(64);
  block[3] = 7;
  pthread_create(&thread, NULL, read_late, NULL);
  free(block);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, &seen);
  printf("%ld\n", (long)seen);
  return 0;
}
