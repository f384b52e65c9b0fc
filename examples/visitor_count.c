// Counts visitors in two ways, of which one forgets the lock: the race that ./demo has weir check find.
// usage: visitor_count
#include <pthread.h>
#include <stdio.h>

enum { kDoors = 4, kVisitors = 100000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t opening;
static long counted;    // under the lock
static long estimated;  // under no lock

static void enter(void) {
  pthread_mutex_lock(&lock);
  counted++;
  pthread_mutex_unlock(&lock);
  estimated++;
}

static void* watch_door(void* unused) {
  pthread_barrier_wait(&opening);
  for (int i = 0; i < kVisitors; i++) enter();
  return unused;
}

int main(void) {
  pthread_t threads[kDoors];
  pthread_barrier_init(&opening, NULL, kDoors);
  for (int i = 0; i < kDoors; i++) pthread_create(&threads[i], NULL, watch_door, NULL);
  for (int i = 0; i < kDoors; i++) pthread_join(threads[i], NULL);
  printf("counted %ld, estimated %ld\n", counted, estimated);
  return 0;
}
