// Functions of a table are called by pointer: one of them forgets the lock.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int hits;

static void locked(void) {
  pthread_mutex_lock(&mutex);
  hits++;  // RACE
  pthread_mutex_unlock(&mutex);
}

static void careless(void) {
  guard(&mutex);
  hits++;  // RACE
  unguard(&mutex);
}

static void (*volatile table[2])(void) = {locked, careless};

static void* body(void* argument) {
  table[(long)argument]();
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
