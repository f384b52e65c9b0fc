// What a thread that main does not join has counted is counted once more by a handler of exit.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int count;

static void at_end(void) {
  guard(&mutex);
  count++;  // RACE
  unguard(&mutex);
}

static void* body(void* unused) {
  guard(&mutex);
  count++;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  if (atexit(at_end)) return 1;
  start(body, NULL);
  pause_ms(30);
  return 0;
}
