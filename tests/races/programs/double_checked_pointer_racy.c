// Double-checked locking on a plain pointer: the first check reads it without the lock.
#include "program.h"

struct Thing {
  int value;
};
struct Thing* instance;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Thing* get(void) {
  struct Thing* thing = instance;  // RACE
  if (thing) return thing;
  pthread_mutex_lock(&mutex);
  thing = instance;
  if (!thing) {
    thing = (struct Thing*)malloc(sizeof *thing);
    thing->value = 42;  // RACE
    instance = thing;   // RACE
  }
  pthread_mutex_unlock(&mutex);
  return thing;
}

static void* body(void* unused) {
  pause_ms(1);
  for (int i = 0; i < 20; ++i) use(get()->value);  // RACE
  return unused;
}

int main(void) {
  run_two(body, body);
  free(instance);
  return 0;
}
