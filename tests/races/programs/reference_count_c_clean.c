// The reference count is plain and changed under the lock; the last one frees.
#include "program.h"

struct Object {
  long value[4];
  int references;
} * object;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  use(object->value[2]);
  pthread_mutex_lock(&mutex);
  int left = --object->references;
  pthread_mutex_unlock(&mutex);
  if (left == 0) free(object);
  return unused;
}

int main(void) {
  object = (struct Object*)calloc(1, sizeof *object);
  object->references = 2;
  run_two(body, body);
  return 0;
}
