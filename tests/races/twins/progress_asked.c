// A thread that reports asks now and then how far the others are.
#include "twin.h"

static long progress[3];
static pthread_mutex_t mutexes[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 4000; ++i) {
    guard(&mutexes[me]);
    progress[me]++;  // RACE
    unguard(&mutexes[me]);
    if (i % 400 == 0) pause_ms(1);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) threads[i] = start(body, (void*)i);
  for (int k = 0; k < 4; ++k) {
    pause_ms(4);
    long sum = 0;
    for (int i = 0; i < 3; ++i) {
      guard(&mutexes[i]);
      sum += progress[i];  // RACE
      unguard(&mutexes[i]);
    }
    use(sum);
  }
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
