// A consumer peeks at the length of the queue before it takes the mutex and waits.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;
int queued, taken;
static void* consumer(void* unused) {
  pause_ms(2);
  while (taken < 20) {
    int there = queued;  // RACE
    usleep(300);
    pthread_mutex_lock(&mutex);
    if (!there)
      while (queued == 0) pthread_cond_wait(&more, &mutex);
    if (queued > 0) --queued, ++taken;  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* producer(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    ++queued;  // RACE
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

int main(void) {
  run_two(consumer, producer);
  return 0;
}
