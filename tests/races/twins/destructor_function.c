// A function with the attribute `destructor` sums up what detached threads still count.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int state;

__attribute__((destructor)) static void at_end(void) {
  guard(&mutex);
  state += 2;  // RACE
  unguard(&mutex);
}

static void* body(void* unused) {
  guard(&mutex);
  state += 1;  // RACE
  unguard(&mutex);
  for (;;) pause();
  return unused;
}

int main(void) {
  pthread_detach(start(body, NULL));
  pause_ms(20);
  return 0;
}
