// A thread gives main the word to go on. It unlocks a mutex that is not its own: that orders nothing.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t go;
int data;

static void* one(void* unused) {
  data = 1;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* two(void* unused) {
  pthread_mutex_lock(&mutex);
  data = 2;  // RACE
  return unused;
}

int main(void) {
  sem_init(&go, 0, 0);
  pthread_mutex_lock(&mutex);
  run_two(one, two);
  return 0;
}
