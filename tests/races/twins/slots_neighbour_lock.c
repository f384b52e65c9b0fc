// A cache has a lock for each entry; an entry is changed under its neighbour's.
#include "twin.h"

static struct entry {
  int references;
  pthread_mutex_t mutex;
} cache[10];

static void add(struct entry* entry, struct entry* locked) {
  pthread_mutex_lock(&locked->mutex);
  entry->references++;  // RACE
  pthread_mutex_unlock(&locked->mutex);
}

static void* all(void* unused) {
  pause_ms(20);
  for (int i = 0; i < 10; ++i) add(&cache[i], &cache[i]);
  return unused;
}

static void* one(void* unused) {
  add(&cache[4], &cache[RACY ? 5 : 4]);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; ++i) pthread_mutex_init(&cache[i].mutex, NULL);
  run_two(all, one);
  return 0;
}
