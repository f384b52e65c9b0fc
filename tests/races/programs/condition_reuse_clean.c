// Producer and consumer take turns: the value is overwritten only when the condition says that it was taken.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int full, value, last;
static void* producer(void* unused) {
  for (int i = 1; i <= 20; ++i) {
    pthread_mutex_lock(&mutex);
    while (full) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    value = i;
    pthread_mutex_lock(&mutex);
    full = 1;
    last = i == 20;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int end = 0; !end;) {
    pthread_mutex_lock(&mutex);
    while (!full) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    use(value);
    pthread_mutex_lock(&mutex);
    end = last;
    full = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(producer, consumer);
  return 0;
}
