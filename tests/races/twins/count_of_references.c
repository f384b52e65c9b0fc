// References of an object are counted plainly; who counts last frees it.
#include "twin.h"

struct Object {
  int references, value;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  struct Object* object = argument;
  use(object->value);
  guard(&mutex);
  object->references--;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  struct Object* object = malloc(sizeof *object);
  if (!object) return 1;
  object->references = 2;
  object->value = 5;
  pthread_t one = start(body, object), two = start(body, object);
  join(one);
  join(two);
  use(object->references);
  free(object);
  return 0;
}
