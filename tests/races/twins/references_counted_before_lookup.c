// The count of an object's references is taken outside of the lock that its end takes.
#include "twin.h"

struct object {
  int count, data;
};
static struct object* object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void put(struct object* it) {
  pthread_mutex_lock(&mutex);
  const int left = --it->count;  // RACE
  pthread_mutex_unlock(&mutex);
  if (left == 0) free(it);
}

static void* body(void* unused) {
  guard(&mutex);
  object->count++;  // RACE
  unguard(&mutex);
  use(object->data);
  put(object);
  return unused;
}

int main(void) {
  object = calloc(1, sizeof *object);
  object->count = 1;
  run_threads(2, body);
  put(object);
  return 0;
}
