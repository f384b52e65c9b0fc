// Whoever counts to nothing frees; the count is taken under the lock in one of two places.
#include "twin.h"

static struct object {
  int count, data;
}* object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* locked(void* unused) {
  pthread_mutex_lock(&mutex);
  object->count--;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* open_drop(void* unused) {
  pause_ms(5);
  guard(&mutex);
  object->count--;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  object = calloc(1, sizeof *object);
  object->count = 3;
  run_two(locked, open_drop);
  const int left = object->count;
  free(object);
  return left > 3;
}
