// The reference count is plain and changed without the lock.
#include "program.h"

struct Object {
  long value[4];
  int references;
} * object;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  use(object->value[2]);
  int left = --object->references;  // RACE
  use(left);
  return unused;
}

int main(void) {
  object = (struct Object*)calloc(1, sizeof *object);
  object->references = 2;
  run_two(body, body);
  return 0;
}
