// How C++ libraries lock two mutexes without a deadlock: the first is locked, the second is tried,
// and if that fails both are let go and all begins again. Threads in lockstep must not fail for
// ever.
#include <stdint.h>

#include "program.h"

enum { kForks = 5, kMeals = 60 };

static pthread_mutex_t g_fork[kForks];
static long g_meals[kForks];

static void lock_both(pthread_mutex_t* first, pthread_mutex_t* second) {
  for (;;) {
    CHECK_EQ(pthread_mutex_lock(first), 0);
    if (pthread_mutex_trylock(second) == 0) return;
    CHECK_EQ(pthread_mutex_unlock(first), 0);
  }
}

static void* eat(void* number) {
  for (int k = 0; k < kMeals; k++) {
    const int left = (int)((intptr_t)number + k) % kForks, right = (left + 1) % kForks;
    if (k % 2) lock_both(&g_fork[left], &g_fork[right]);
    else lock_both(&g_fork[right], &g_fork[left]);
    g_meals[left]++;
    CHECK_EQ(pthread_mutex_unlock(&g_fork[right]), 0);
    CHECK_EQ(pthread_mutex_unlock(&g_fork[left]), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_t thread[64];
  for (int i = 0; i < kForks; i++) CHECK_EQ(pthread_mutex_init(&g_fork[i], NULL), 0);
  for (int i = 0; i < threads; i++)
    CHECK_EQ(pthread_create(&thread[i], NULL, eat, (void*)(intptr_t)i), 0);
  for (int i = 0; i < threads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  long total = 0;
  for (int i = 0; i < kForks; i++) total += g_meals[i];
  printf("meals %ld\n", total);
  return 0;
}
