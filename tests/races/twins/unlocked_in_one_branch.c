// One branch gives the lock back too early.
#include "twin.h"

static int count, odd;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    if ((i + (long)number) % 2) {
      if (RACY) pthread_mutex_unlock(&mutex);
      odd++;  // RACE
      if (!RACY) pthread_mutex_unlock(&mutex);
    } else {
      count++;
      pthread_mutex_unlock(&mutex);
    }
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(count + odd);
  return 0;
}
