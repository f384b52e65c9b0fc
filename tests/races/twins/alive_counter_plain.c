// Detached threads count themselves; the racy ones forget the lock.
#include "twin.h"

int alive = 4;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* body(void* unused) {
  guard(&mutex);
  alive--;  // RACE
  unguard(&mutex);
  pthread_cond_signal(&changed);
  return unused;
}

int main(void) {
  for (int i = 0; i < 4; ++i) pthread_detach(start(body, NULL));
  pthread_mutex_lock(&mutex);
  while (alive > 0) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_cond_timedwait(&changed, &mutex, &until) != 0) break;
  }
  pthread_mutex_unlock(&mutex);
  return 0;
}
