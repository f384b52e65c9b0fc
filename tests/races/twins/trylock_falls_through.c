// Who does not get the lock at once works on the cache all the same.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long cache[4];

static void* body(void* number) {
  for (int i = 0; i < 10; ++i) {
    int has = pthread_mutex_trylock(&mutex) == 0;
    if (!RACY && !has) has = pthread_mutex_lock(&mutex) == 0;
    cache[i % 4] += (long)number;  // RACE
    pause_ms(4);
    if (has) pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(cache[1]);
  return 0;
}
