// Lazy initialization with a C11 _Atomic flag: its sequentially consistent accesses order what was initialized.
#include "program.h"

_Atomic int ready;
int values[8];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  if (!ready) {
    pthread_mutex_lock(&mutex);
    if (!ready) {
      for (int i = 0; i < 8; ++i) values[i] = i * i;
      ready = 1;
    }
    pthread_mutex_unlock(&mutex);
  }
  use(values[7]);
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
