// Threads wait until main is ready; the racy main stores once more after that.
#include "twin.h"

int data;
_Bool ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* body(void* unused) {
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  use(data);  // RACE
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, NULL);
  data = 1;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (RACY) data = 2;  // RACE
  join(one);
  join(two);
  return 0;
}
