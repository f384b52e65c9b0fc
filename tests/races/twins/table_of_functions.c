// An entry of a table of functions is set while another thread calls through it.
#include "twin.h"

static int one(int value) { return value + 1; }
static int two(int value) { return value + 2; }
static int (*table[4])(int) = {one, one, one, one};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* set(void* unused) {
  guard(&mutex);
  table[2] = two;  // RACE
  unguard(&mutex);
  return unused;
}

static void* call(void* unused) {
  pause_ms(5);
  int (*function)(int);
  guard(&mutex);
  function = table[2];  // RACE
  unguard(&mutex);
  use(function(3));
  return unused;
}

int main(void) {
  run_two(set, call);
  return 0;
}
