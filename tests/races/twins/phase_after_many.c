// Two threads lock for 10,000 rounds; what they do after that nothing orders.
#include "twin.h"

static long sum, last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 10000; ++i) {
    pthread_mutex_lock(&mutex);
    sum += i;
    pthread_mutex_unlock(&mutex);
  }
  pause_ms(10 + 10 * (int)(long)number);
  guard(&mutex);
  last = (long)number;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(last);
  return 0;
}
