// A thread gives main the word to go on. By a semaphore, which has no owner.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t go;
int data;

static void* one(void* unused) {
  data = 1;
  sem_post(&go);
  return unused;
}

static void* two(void* unused) {
  while (sem_wait(&go) != 0) {}
  data = 2;
  return unused;
}

int main(void) {
  sem_init(&go, 0, 0);
  pthread_mutex_lock(&mutex);
  run_two(one, two);
  return 0;
}
