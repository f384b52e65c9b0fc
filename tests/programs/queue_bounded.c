// Producers and consumers over a bounded buffer: each item once; which consumer gets which is
// printed.
#include "program.h"

enum { kSlots = 5, kEach = 50 };
static int slots[kSlots], used, in, out, produced, consumed, total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static uint64_t order = 0xcbf29ce484222325u;
static char seen[kMaxThreads * kEach];

static void* producer(void* unused) {
  for (int i = 0; i < kEach; ++i) {
    pthread_mutex_lock(&lock);
    while (used == kSlots) pthread_cond_wait(&not_full, &lock);
    slots[in++ % kSlots] = produced++;
    ++used;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void* consumer(void* number) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (used == 0 && consumed < total) pthread_cond_wait(&not_empty, &lock);
    if (consumed == total) break;
    int item = slots[out++ % kSlots];
    --used;
    ++seen[item];
    order = (order ^ (uint64_t)(item * 64 + (long)number)) * 0x100000001b3u;
    if (++consumed == total) pthread_cond_broadcast(&not_empty);
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* body(void* number) { return (long)number % 2 ? consumer(number) : producer(number); }

int main(int argc, char** argv) {
  int threads = (argument(argc, argv, 1, 4) + 1) / 2 * 2;
  total = threads / 2 * kEach;
  run_threads(threads, body);
  for (int i = 0; i < total; ++i) CHECK_EQ(seen[i], 1);
  printf("items %d order %016llx\n", total, (unsigned long long)order);
  return 0;
}
