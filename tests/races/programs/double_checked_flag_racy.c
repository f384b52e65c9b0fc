// Lazy initialization guarded by a plain flag that is tested before the lock is taken.
#include "program.h"

int ready;
int values[8];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  if (!ready) {  // RACE
    pthread_mutex_lock(&mutex);
    if (!ready) {
      for (int i = 0; i < 8; ++i) values[i] = i * i;  // RACE
      ready = 1;                                      // RACE
    }
    pthread_mutex_unlock(&mutex);
  }
  use(values[7]);  // RACE
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL);
  pause_ms(3);
  pthread_t two = start(body, NULL);
  join(one);
  join(two);
  return 0;
}
