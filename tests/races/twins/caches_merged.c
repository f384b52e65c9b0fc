// Counters of each thread are registered in a list, and summed up while the threads count on.
#include "twin.h"

struct cache {
  struct cache* next;
  long hits;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct cache* all;
static __thread struct cache* mine;

static void* body(void* unused) {
  mine = calloc(1, sizeof *mine);
  pthread_mutex_lock(&mutex);
  mine->next = all;
  all = mine;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 20; ++i) {
    if (RACY) {
      mine->hits++;  // RACE
    } else {
      pthread_mutex_lock(&mutex);
      mine->hits++;
      pthread_mutex_unlock(&mutex);
    }
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, NULL);
  for (int i = 0; i < 5; ++i) {
    long sum = 0;
    pthread_mutex_lock(&mutex);
    for (struct cache* cache = all; cache; cache = cache->next) sum += cache->hits;  // RACE
    pthread_mutex_unlock(&mutex);
    use(sum);
    pause_ms(3);
  }
  join(one);
  join(two);
  return 0;
}
