// Threads that take the same locks in turn and write the same pages under them: in all ways of
// taking a lock, with a lock inside another, and with a condition. A thread may wait for the pages
// before it has the lock (View coherent): none may be forgotten there, and none stand back for
// ever. usage: lock_pages [THREADS [ROUNDS]]
#include "program.h"

enum { kPages = 6, kPage = 4096, kPart = 1024 };

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Alignas(4096) unsigned char of_outer[kPages][kPage], of_inner[kPages][kPage];
static int threads, rounds, arrived;
static long sum_of_outer, sum_of_inner, sum_of_again;

static void write_pages(unsigned char (*pages)[kPage], int at) {
  for (int i = 0; i < kPages; ++i) pages[i][at]++;
}

static void compute(int length) {
  volatile unsigned sum = 0;
  for (int i = 0; i < length; ++i) sum += (unsigned)i;
}

static void take_outer(int way) {
  const struct timespec late = {4000000000, 0};
  if (way == 0) CHECK_EQ(pthread_mutex_timedlock(&outer, &late), 0);
  else if (way != 1 || pthread_mutex_trylock(&outer) != 0) CHECK_EQ(pthread_mutex_lock(&outer), 0);
}

static void* body(void* number) {
  for (int i = 0; i < rounds; ++i) {
    const int at = i % kPart;
    take_outer((i + (int)(long)number) % 7);
    write_pages(of_outer, at);
    sum_of_outer++;
    if (i % 5 == 0) {
      CHECK_EQ(pthread_mutex_lock(&inner), 0);
      write_pages(of_inner, at);
      sum_of_inner++;
      CHECK_EQ(pthread_mutex_unlock(&inner), 0);
    }
    if (i == rounds / 2) {  // all meet
      arrived++;
      CHECK_EQ(pthread_cond_broadcast(&changed), 0);
      while (arrived < threads) CHECK_EQ(pthread_cond_wait(&changed, &outer), 0);
    }
    CHECK_EQ(pthread_mutex_unlock(&outer), 0);
    compute(i % 3 ? 2000 : 20000);
    CHECK_EQ(pthread_mutex_lock(&inner), 0);
    write_pages(of_inner, at);
    sum_of_inner++;
    CHECK_EQ(pthread_mutex_unlock(&inner), 0);
    CHECK_EQ(pthread_mutex_lock(&again), 0);
    CHECK_EQ(pthread_mutex_lock(&again), 0);
    sum_of_again++;
    write_pages(of_inner, kPart + at);
    CHECK_EQ(pthread_mutex_unlock(&again), 0);
    CHECK_EQ(pthread_mutex_unlock(&again), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  rounds = argument(argc, argv, 2, 240);
  run_threads(threads, body);
  long bytes = 0;
  for (int i = 0; i < kPages; ++i)
    for (int k = 0; k < kPage; ++k) bytes += of_outer[i][k] + of_inner[i][k];
  printf("%ld %ld %ld %ld\n", sum_of_outer, sum_of_inner, sum_of_again, bytes);
  return 0;
}
