// A driver counts who is inside; the stop looks at the count without the lock.
#include "twin.h"

static struct {
  pthread_mutex_t mutex;
  int inside, stopping, stopped;
} device = {PTHREAD_MUTEX_INITIALIZER, 1, 0, 0};

static void leave(void) {
  pthread_mutex_lock(&device.mutex);
  device.inside--;  // RACE
  pthread_mutex_unlock(&device.mutex);
}

static void* body(void* unused) {
  pthread_mutex_lock(&device.mutex);
  if (!device.stopping) device.inside++;  // RACE
  pthread_mutex_unlock(&device.mutex);
  leave();
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  guard(&device.mutex);
  device.stopping = 1;        // RACE
  use(device.inside);         // RACE
  unguard(&device.mutex);
  join(thread);
  return 0;
}
