// Threads work on an array on main's stack, main grows its stack meanwhile, and each sees what the
// other wrote.
#include "program.h"

static pthread_barrier_t barrier;
static long* shared;
static int threads;

static void* body(void* number) {
  long me = (long)number;
  for (int round = 0; round < 20; ++round) {
    shared[me] += round;
    pthread_barrier_wait(&barrier);
    shared[threads + me] = shared[(me + 1) % threads];
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static __attribute__((noinline)) long grow(int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  frame[4095] = 1;
  return depth == 0 ? frame[4095] : grow(depth - 1) + frame[4095];
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  long array[2 * kMaxThreads] = {0}, sum = 0;
  pthread_t ids[kMaxThreads];
  shared = array;
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, (void*)i), 0);
  for (int round = 0; round < 20; ++round) {
    pthread_barrier_wait(&barrier);
    CHECK_EQ(grow(100), 101);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; ++i) CHECK(array[threads + i] >= round * (round + 1) / 2);
  }
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  for (int i = 0; i < threads; ++i) sum += array[i];
  CHECK_EQ(sum, threads * 190L);
  printf("sum %ld\n", sum);
  return 0;
}
