// The producer overwrites the value without waiting until the consumer has taken the one before.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int full, value, last;
static void* producer(void* unused) {
  for (int i = 1; i <= 20; ++i) {
    value = i;  // RACE
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
    use(value);  // RACE
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
