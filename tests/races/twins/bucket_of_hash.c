// A table with a lock for each bucket; the sum of all sizes is kept beside.
#include "twin.h"

enum { kBuckets = 4 };
static struct {
  pthread_mutex_t mutex;
  int count;
} bucket[kBuckets] = {{PTHREAD_MUTEX_INITIALIZER, 0},
                      {PTHREAD_MUTEX_INITIALIZER, 0},
                      {PTHREAD_MUTEX_INITIALIZER, 0},
                      {PTHREAD_MUTEX_INITIALIZER, 0}};
static pthread_mutex_t of_total = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void* body(void* number) {
  for (long i = 0; i < 6; ++i) {
    const long at = ((long)number * 2 + i % 2) % kBuckets;
    pthread_mutex_lock(&bucket[at].mutex);
    bucket[at].count++;
    guard(&of_total);
    total++;  // RACE
    unguard(&of_total);
    pthread_mutex_unlock(&bucket[at].mutex);
  }
  return number;
}

int main(void) {
  run_threads(2, body);
  return total > 0 ? 0 : 1;
}
