// The result of trylock is understood the wrong way round.
#include "twin.h"

int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* holder(void* unused) {
  pthread_mutex_lock(&mutex);
  data = 1;  // RACE
  pause_ms(80);
  data = 2;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* trier(void* unused) {
  pause_ms(20);
  int failed = pthread_mutex_trylock(&mutex);
  if (RACY ? failed != 0 : failed == 0) data++;  // RACE
  if (failed == 0) pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(holder, trier);
  return 0;
}
