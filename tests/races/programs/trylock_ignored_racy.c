// A thread ignores that pthread_mutex_trylock failed, and writes.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* holder(void* unused) {
  pthread_mutex_lock(&mutex);
  pause_ms(4);
  value = 1;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* trier(void* unused) {
  pause_ms(1);
  for (int i = 0; i < 5; ++i) {
    int failed = pthread_mutex_trylock(&mutex);
    value = 2;  // RACE
    if (!failed) pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(holder, trier);
  return 0;
}
