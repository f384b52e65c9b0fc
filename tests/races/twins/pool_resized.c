// A pool of threads that another thread makes larger.
#include "twin.h"

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int jobs, wanted, ended;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 1, 0};

static void* worker(void* unused) {
  pthread_mutex_lock(&pool.mutex);
  while (!pool.ended) {
    if (pool.jobs > 0) pool.jobs--;
    else pthread_cond_wait(&pool.changed, &pool.mutex);
  }
  pthread_mutex_unlock(&pool.mutex);
  return unused;
}

static void* watcher(void* unused) {
  guard(&pool.mutex);
  use(pool.wanted);  // RACE
  unguard(&pool.mutex);
  return unused;
}

int main(void) {
  pthread_t one = start(worker, NULL), two = start(watcher, NULL);
  pthread_mutex_lock(&pool.mutex);
  pool.wanted = 2;  // RACE
  pool.jobs += 5;
  pthread_cond_broadcast(&pool.changed);
  pthread_mutex_unlock(&pool.mutex);
  pause_ms(2);
  pthread_mutex_lock(&pool.mutex);
  pool.ended = 1;
  pthread_cond_broadcast(&pool.changed);
  pthread_mutex_unlock(&pool.mutex);
  join(one);
  join(two);
  return 0;
}
