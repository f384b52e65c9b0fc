// Two threads have a number scanned into one variable.
#include "twin.h"

static int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (sscanf("12", "%d", &value) != 1) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(value);
  return 0;
}
