// Each thread counts by relaxed atomic additions, and adds to a plain sum beside that.
#include <stdatomic.h>

#include "twin.h"

static atomic_long hits;
static long sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    sum += (long)number;  // RACE
    unguard(&mutex);
  }
  atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(sum + atomic_load(&hits));
  return 0;
}
