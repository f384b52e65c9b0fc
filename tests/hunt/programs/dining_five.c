// Five philosophers, each takes the left fork first.
#include "planted.h"
#define N 5
static pthread_mutex_t forks[N];
static int meals;
static void* dine(void* number) {
  int l = (int)(long)number, r = (l + 1) % N;
  FIX(if (l > r) {
    int t = l;
    l = r;
    r = t;
  })
  pthread_mutex_lock(&forks[l]);
  pthread_mutex_lock(&forks[r]);
  __atomic_add_fetch(&meals, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&forks[r]);
  pthread_mutex_unlock(&forks[l]);
  return NULL;
}
int main(void) {
  for (int i = 0; i < N; i++) pthread_mutex_init(&forks[i], NULL);
  run_many(N, dine, 0, NULL);
  REQUIRE(meals == N);
  return 0;
}
