// Main waits for one thread fewer than there are.
#include "twin.h"

int alive, data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, of_data = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* body(void* argument) {
  if ((long)argument == 3) pause_ms(30);
  pthread_mutex_lock(&of_data);
  data++;  // RACE
  pthread_mutex_unlock(&of_data);
  pthread_mutex_lock(&mutex);
  alive -= 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  alive = RACY ? 3 : 4;
  for (long i = 0; i < 4; ++i) pthread_detach(start(body, (void*)i));
  pthread_mutex_lock(&mutex);
  while (alive > 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  use(data);  // RACE
  pause_ms(60);
  return 0;
}
