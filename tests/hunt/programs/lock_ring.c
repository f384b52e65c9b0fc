// Seven threads and seven locks in a ring: each takes its own and then its neighbour's.
#include "planted.h"

enum { kCount = 7 };
static pthread_mutex_t forks[kCount];

static void* eat(void* number) {
  const long mine = (long)number, next = (mine + 1) % kCount;
  FIX(const int first_is_next = next < mine;)
  BUG(const int first_is_next = 0;)
  pthread_mutex_lock(&forks[first_is_next ? next : mine]);
  pthread_mutex_lock(&forks[first_is_next ? mine : next]);
  pthread_mutex_unlock(&forks[next]);
  pthread_mutex_unlock(&forks[mine]);
  return NULL;
}

int main(void) {
  for (int i = 0; i < kCount; i++) pthread_mutex_init(&forks[i], NULL);
  RUN(eat, eat, eat, eat, eat, eat, eat);
  return 0;
}
