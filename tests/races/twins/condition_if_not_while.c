// Two consumers are woken for one item; who asks only once takes what is not there.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int items, waiting;
static long slot;

static void* consumer(void* number) {
  pthread_mutex_lock(&mutex);
  waiting++;
  if (RACY) {
    if (!items) pthread_cond_wait(&some, &mutex);
  } else {
    while (!items) pthread_cond_wait(&some, &mutex);
    items--;
  }
  pthread_mutex_unlock(&mutex);
  slot += (long)number;  // RACE
  if (!RACY) {
    pthread_mutex_lock(&mutex);
    items++;
    pthread_cond_signal(&some);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* producer(void* unused) {
  for (int ready = 0; ready < 2;) {
    pthread_mutex_lock(&mutex);
    ready = waiting;
    pthread_mutex_unlock(&mutex);
    usleep(200);
  }
  pthread_mutex_lock(&mutex);
  items = 1;
  pthread_cond_broadcast(&some);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t threads[3] = {start(consumer, (void*)1), start(consumer, (void*)2),
                          start(producer, NULL)};
  for (int i = 0; i < 3; ++i) join(threads[i]);
  use(slot);
  return 0;
}
