// Two threads add to one floating point number.
#include "twin.h"

static double sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  for (int i = 0; i < 5; ++i) {
    guard(&mutex);
    sum += 0.5;  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return sum > 0 ? 0 : 1;
}
