// A cleaner looks for ended workers for ever, by a lock each; main reads the cells at its end.
#include "twin.h"

_Bool done[3];
static pthread_mutex_t locks[3];
int alive = 3;
static pthread_t workers[3];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* worker(void* argument) {
  long i = (long)argument;
  pthread_mutex_lock(&locks[i]);
  done[i] = 1;
  pthread_mutex_unlock(&locks[i]);
  return NULL;
}

static void* cleaner(void* unused) {
  for (int left = 3; left > 0;) {
    for (int i = 0; i < 3; ++i) {
      pthread_mutex_lock(&locks[i]);
      if (done[i]) {
        if (!RACY) done[i] = 0;
        join(workers[i]);
        pthread_mutex_lock(&mutex);
        alive--;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
        if (RACY) done[i] = 0;  // RACE
        left--;
      }
      pthread_mutex_unlock(&locks[i]);
    }
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 3; ++i) pthread_mutex_init(&locks[i], NULL);
  for (long i = 0; i < 3; ++i) workers[i] = start(worker, (void*)i);
  start(cleaner, NULL);
  pthread_mutex_lock(&mutex);
  while (alive > 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  use(done[0] + done[1] + done[2]);  // RACE
  return 0;
}
