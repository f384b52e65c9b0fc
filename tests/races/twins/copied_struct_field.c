// A struct is copied whole while one field of it is stored.
#include "twin.h"

static struct options {
  int level, limit, rest[10];
} shared, copy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* copier(void* unused) {
  guard(&mutex);
  copy = shared;  // RACE
  unguard(&mutex);
  return unused;
}

static void* setter(void* unused) {
  guard(&mutex);
  shared.limit = 9;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(copier, setter);
  use(copy.limit);
  return 0;
}
