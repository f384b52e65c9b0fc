// A recursive mutex is unlocked twice where it was locked once more: what follows is unlocked.
#include "twin.h"

static int total;
static pthread_mutex_t mutex;

static void* body(void* unused) {
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (RACY) pthread_mutex_unlock(&mutex);
    total++;  // RACE
    if (!RACY) pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  run_threads(2, body);
  use(total);
  return 0;
}
