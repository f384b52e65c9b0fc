// Three workers look at a plain flag between naps; main sets it.
#include "twin.h"

static int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  for (int stopped = 0; !stopped;) {
    usleep(500);
    guard(&mutex);
    stopped = stop;  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(body, NULL);
  pause_ms(20);
  guard(&mutex);
  stop = 1;  // RACE
  unguard(&mutex);
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
