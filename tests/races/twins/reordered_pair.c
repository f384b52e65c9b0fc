// A checker looks at two variables that several setters store one after the other.
#include "twin.h"

static int a, b;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number < 3) {
    a = 1;   // RACE
    b = -1;  // RACE
  } else {
    use(a + b);  // RACE
  }
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(4, body);
  return 0;
}
