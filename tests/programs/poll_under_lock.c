// A thread that has just made another looks under a lock, again and again, whether that one has
// come: by each kind of lock, with nothing else in the loop.
#include "program.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static int has_come;

static int by_mutex(int come) {
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  const int seen = has_come |= come;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return seen;
}
static int by_trylock(int come) {
  if (pthread_mutex_trylock(&mutex) != 0) return 0;
  const int seen = has_come |= come;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return seen;
}
static int by_rwlock(int come) {
  CHECK_EQ(come ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock), 0);
  if (come) has_come = 1;
  const int seen = has_come;
  CHECK_EQ(pthread_rwlock_unlock(&rwlock), 0);
  return seen;
}
static int by_spin_lock(int come) {
  CHECK_EQ(pthread_spin_lock(&spin), 0);
  const int seen = has_come |= come;
  CHECK_EQ(pthread_spin_unlock(&spin), 0);
  return seen;
}
static int by_semaphore(int come) {
  if (come) return sem_post(&semaphore) == 0;
  return sem_trywait(&semaphore) == 0;
}
static int by_heap_and_mutex(int come) {
  free(malloc(100));
  return by_mutex(come);
}

static int (*const kLooks[])(int) = {by_mutex,     by_trylock,   by_rwlock,
                                     by_spin_lock, by_semaphore, by_heap_and_mutex};

static void* come(void* look) {
  for (int i = 0; i < 20; ++i) sched_yield();
  while (!(*(int (*const*)(int))look)(1)) {}
  return NULL;
}

int main(void) {
  CHECK_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
  CHECK_EQ(sem_init(&semaphore, 0, 0), 0);
  for (size_t i = 0; i < sizeof kLooks / sizeof *kLooks; ++i) {
    pthread_t threads[2];
    has_come = 0;
    CHECK_EQ(pthread_create(&threads[0], NULL, come, (void*)&kLooks[i]), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, come, (void*)&kLooks[i]), 0);
    while (!kLooks[i](0)) {}
    for (int t = 0; t < 2; ++t) CHECK_EQ(pthread_join(threads[t], NULL), 0);
    while (kLooks[i] == by_semaphore && sem_trywait(&semaphore) == 0) {}
  }
  puts("all have come");
  return 0;
}
