// A thread computes for a while before it touches what main has touched and left behind.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long state;

static void* body(void* unused) {
  volatile long sum = 0;
  for (long i = 0; i < 3000000; ++i) sum = sum + i;
  guard(&mutex);
  state += sum;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  start(body, NULL);
  guard(&mutex);
  state = 1;  // RACE
  unguard(&mutex);
  return 0;
}
