// A complex number is replaced by one thread and read by another.
#include "twin.h"

#include <complex.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double _Complex z;

static void* writer(void* unused) {
  guard(&mutex);
  z = 1.0 + 2.0 * I;  // RACE
  unguard(&mutex);
  return unused;
}

static void* reader(void* unused) {
  pause_ms(5);
  guard(&mutex);
  const double _Complex copy = z;  // RACE
  unguard(&mutex);
  use((long)(creal(copy) + cimag(copy)));
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
