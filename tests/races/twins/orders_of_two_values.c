// One thread stores two values, another one compares them.
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
  use(first + second == 0);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  pthread_t setters[2] = {start(set, NULL), start(set, NULL)}, checker = start(check, NULL);
  join(setters[0]);
  join(setters[1]);
  join(checker);
  return 0;
}
