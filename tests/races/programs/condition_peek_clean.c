// A consumer looks at the length of the queue only under the mutex.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;
int queued, taken;
static void* consumer(void* unused) {
  pause_ms(2);
  while (taken < 20) {
    pthread_mutex_lock(&mutex);
    while (queued == 0) pthread_cond_wait(&more, &mutex);
    if (queued > 0) --queued, ++taken;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* producer(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    ++queued;
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
