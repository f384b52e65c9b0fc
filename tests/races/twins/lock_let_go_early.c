// The lock is let go between the check and the change.
#include "twin.h"

static int free_places = 10, taken[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 4; ++i) {
    pthread_mutex_lock(&mutex);
    const int is_free = free_places > 0;  // RACE
    if (RACY) pthread_mutex_unlock(&mutex);
    if (is_free) free_places--;  // RACE
    if (!RACY) pthread_mutex_unlock(&mutex);
    taken[(long)number] += is_free;
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(taken[0] + taken[1]);
  return 0;
}
