// A queue under a lock, whose length is looked at without it.
#include "twin.h"

static int queue[16], length;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* put(void* unused) {
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(&mutex);
    queue[length] = i;
    length++;  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* peek(void* unused) {
  pause_ms(5);
  guard(&mutex);
  const int now = length;  // RACE
  unguard(&mutex);
  use(now);
  return unused;
}

int main(void) {
  run_two(put, peek);
  return 0;
}
