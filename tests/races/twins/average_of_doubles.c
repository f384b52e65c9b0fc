// A running average of doubles, changed by two threads.
#include "twin.h"

static double average;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    average = average * 0.9 + (double)(long)number * 0.1;  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use((long)average);
  return 0;
}
