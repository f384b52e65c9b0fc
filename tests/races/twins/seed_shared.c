// Two threads draw numbers by rand_r() from one seed.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned seed = 1;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 3; ++i) {
    guard(&mutex);
    use(rand_r(&seed));  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
