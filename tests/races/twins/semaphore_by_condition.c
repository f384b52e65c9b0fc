// A semaphore made of a lock and a condition; the racy program begins with a unit too many.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int units = RACY ? 2 : 1, slots;

static void* body(void* unused) {
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&mutex);
    while (units == 0) pthread_cond_wait(&condition, &mutex);
    units--;
    pthread_mutex_unlock(&mutex);
    slots += 1;  // RACE
    pause_ms(3);
    slots += 1;  // RACE
    pthread_mutex_lock(&mutex);
    units++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_threads(3, body);
  use(slots);
  return 0;
}
