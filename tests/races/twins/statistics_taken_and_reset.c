// A reader takes the counts and makes them zero, while a worker counts.
#include "twin.h"

static struct {
  long hits, bytes;
} counts;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* unused) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    counts.hits++;      // RACE
    counts.bytes += i;  // RACE
    unguard(&mutex);
  }
  return unused;
}

static void* collect(void* unused) {
  for (int i = 0; i < 5; ++i) {
    guard(&mutex);
    const long hits = counts.hits, bytes = counts.bytes;  // RACE
    counts.hits = counts.bytes = 0;                       // RACE
    unguard(&mutex);
    use(hits + bytes);
  }
  return unused;
}

int main(void) {
  run_two(work, collect);
  return 0;
}
