// Double-checked locking of a table, by a plain int.
#include "twin.h"

static int made, table[8];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is_made(void) {
#if RACY
  return made;  // RACE
#else
  return __atomic_load_n(&made, __ATOMIC_ACQUIRE);
#endif
}

static int* get(void) {
  if (!is_made()) {
    pthread_mutex_lock(&mutex);
    if (!is_made()) {
      for (int i = 0; i < 8; ++i) table[i] = i * i;
#if RACY
      made = 1;  // RACE
#else
      __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
#endif
    }
    pthread_mutex_unlock(&mutex);
  }
  return table;
}

static void* body(void* number) {
  pause_ms(2 * (int)(long)number);
  use(get()[3]);
  return NULL;
}

int main(void) {
  run_threads(3, body);
  return 0;
}
