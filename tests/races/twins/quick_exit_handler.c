// A handler of at_quick_exit() reads what a thread still writes.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int state;

static void at_end(void) {
  guard(&mutex);
  use(state);  // RACE
  unguard(&mutex);
}

static void* body(void* unused) {
  guard(&mutex);
  state = 1;  // RACE
  unguard(&mutex);
  for (;;) pause();
  return unused;
}

int main(void) {
  at_quick_exit(at_end);
  start(body, NULL);
  pause_ms(20);
  quick_exit(0);
}
