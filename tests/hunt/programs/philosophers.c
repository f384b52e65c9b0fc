// Three philosophers, each of whom takes the left fork first.
#include "planted.h"

enum { kCount = 3 };
static pthread_mutex_t forks[kCount] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                        PTHREAD_MUTEX_INITIALIZER};

static void* dine(void* number) {
  int left = (int)(long)number, right = (left + 1) % kCount;
#ifdef FIXED
  if (right < left) {
    const int swapped = left;
    left = right;
    right = swapped;
  }
#endif
  pthread_mutex_lock(&forks[left]);
  pthread_mutex_lock(&forks[right]);
  pthread_mutex_unlock(&forks[right]);
  pthread_mutex_unlock(&forks[left]);
  return NULL;
}

int main(void) {
  RUN(dine, dine, dine);
  return 0;
}
