// Double-checked locking with an acquire load outside the lock and a release store inside.
#include "program.h"

struct Thing {
  int value;
};
struct Thing* instance;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Thing* get(void) {
  struct Thing* thing = __atomic_load_n(&instance, __ATOMIC_ACQUIRE);
  if (thing) return thing;
  pthread_mutex_lock(&mutex);
  thing = instance;
  if (!thing) {
    thing = (struct Thing*)malloc(sizeof *thing);
    thing->value = 42;
    __atomic_store_n(&instance, thing, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&mutex);
  return thing;
}

static void* body(void* unused) {
  pause_ms(1);
  for (int i = 0; i < 20; ++i) use(get()->value);
  return unused;
}

int main(void) {
  run_two(body, body);
  free(instance);
  return 0;
}
