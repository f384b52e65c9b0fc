// Several setters store two variables one after the other, a checker reads both.
#include "twin.h"

static int first, second;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* set(void* unused) {
  guard(&mutex);
  first = 1;    // RACE
  second = -1;  // RACE
  unguard(&mutex);
  return unused;
}

static void* check(void* unused) {
  guard(&mutex);
  const int one = first, other = second;  // RACE
  unguard(&mutex);
  use(one + other);
  return unused;
}

int main(void) {
  pthread_t threads[5];
  for (int i = 0; i < 4; ++i) threads[i] = start(set, NULL);
  threads[4] = start(check, NULL);
  for (int i = 0; i < 5; ++i) join(threads[i]);
  return 0;
}
