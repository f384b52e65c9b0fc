// Threads count themselves when they begin; main does not wait until all have begun.
#include "twin.h"

int begun, alive, data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, of_data = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* body(void* unused) {
  pause_ms(20);
  pthread_mutex_lock(&mutex);
  begun++;
  alive++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&of_data);
  data++;  // RACE
  pthread_mutex_unlock(&of_data);
  pthread_mutex_lock(&mutex);
  alive--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  for (int i = 0; i < 3; ++i) pthread_detach(start(body, NULL));
  pthread_mutex_lock(&mutex);
  while (alive > 0 || begun < (RACY ? 0 : 3)) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  use(data);  // RACE
  pause_ms(60);
  return 0;
}
