// Each thread has a pthread_once_t of its own in the racy program, so both initialize.
#include "twin.h"

static pthread_once_t common = PTHREAD_ONCE_INIT;
static int settings[4];

static void initialize(void) {
  for (int i = 0; i < 4; ++i) settings[i] = i + 1;  // RACE
}

static void* body(void* number) {
  pthread_once_t own = PTHREAD_ONCE_INIT;
  pause_ms(5 * (int)(long)number);
  pthread_once(RACY ? &own : &common, initialize);
  use(settings[2]);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
