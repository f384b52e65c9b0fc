// Detached threads store after they have said that they are done.
#include "twin.h"

int alive = 3, data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, of_data = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void store(void) {
  pthread_mutex_lock(&of_data);
  data++;  // RACE
  pthread_mutex_unlock(&of_data);
}

static void* body(void* unused) {
  if (!RACY) store();
  pthread_mutex_lock(&mutex);
  alive--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  if (RACY) store();
  return unused;
}

int main(void) {
  for (int i = 0; i < 3; ++i) pthread_detach(start(body, NULL));
  pthread_mutex_lock(&mutex);
  while (alive > 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  use(data);  // RACE
  return 0;
}
