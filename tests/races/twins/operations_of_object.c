// A table of operations; one of them forgets the lock.
#include "twin.h"

struct object {
  pthread_mutex_t mutex;
  int count;
};
static struct object object = {PTHREAD_MUTEX_INITIALIZER, 0};

static void add(struct object* this) {
  pthread_mutex_lock(&this->mutex);
  this->count++;  // RACE
  pthread_mutex_unlock(&this->mutex);
}

static void reset(struct object* this) {
  guard(&this->mutex);
  this->count = 0;  // RACE
  unguard(&this->mutex);
}

static void (*const operations[])(struct object*) = {add, reset};

static void* body(void* number) {
  pause_ms((int)(long)number);
  operations[(long)number](&object);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(object.count);
  return 0;
}
