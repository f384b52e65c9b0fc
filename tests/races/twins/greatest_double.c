// The greatest of doubles; the racy threads ask and set it without a lock.
#include "twin.h"

static double greatest;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    const double value = (double)((i * 7 + (int)(long)number) % 13);
    guard(&mutex);
    if (value > greatest) greatest = value;  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use((long)greatest);
  return 0;
}
