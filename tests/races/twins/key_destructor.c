// The destructors of two threads' values add to one variable.
#include "twin.h"

int total;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add(void* value) {
  guard(&mutex);
  total += (int)(long)value;  // RACE
  unguard(&mutex);
}

static void* body(void* argument) {
  pthread_setspecific(key, (void*)((long)argument + 1));
  return NULL;
}

int main(void) {
  pthread_key_create(&key, add);
  run_threads(2, body);
  return 0;
}
