// A lock is given back by the attribute `cleanup` at the end of a block, which ends too early.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void give(pthread_mutex_t** lock) { pthread_mutex_unlock(*lock); }

static pthread_mutex_t* take(void) {
  pthread_mutex_lock(&mutex);
  return &mutex;
}

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  {
    pthread_mutex_t* held __attribute__((cleanup(give))) = take();
    use((long)held);
    if (!RACY) count += 1;
  }
  if (RACY) count += 1;  // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(count);
  return 0;
}
