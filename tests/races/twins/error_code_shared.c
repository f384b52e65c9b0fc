// Functions of a library leave their error in a variable, which is thread-local or shared.
#include "twin.h"

#if RACY
static int last_error;
#else
static _Thread_local int last_error;
#endif

static int divide(int one, int other) {
  if (other == 0) {
    last_error = 33;  // RACE
    return 0;
  }
  last_error = 0;  // RACE
  return one / other;
}

static void* body(void* number) {
  for (int i = 0; i < 5; ++i) use(divide(100, i * (int)(long)number));
  use(last_error);  // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
