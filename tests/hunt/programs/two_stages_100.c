// 99 threads write two fields, each under a lock of its own; one reader comes between the stages.
#include "planted.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int data1, data2;

static void* write_both(void* unused) {
  pthread_mutex_lock(&first);
  data1 = 1;
  BUG(pthread_mutex_unlock(&first);)
  pthread_mutex_lock(&second);
  data2 = data1 + 1;
  pthread_mutex_unlock(&second);
  FIX(pthread_mutex_unlock(&first);)
  return unused;
}

static void* read_both(void* unused) {
  int two = 0;
  pthread_mutex_lock(&first);
  const int one = data1;
  BUG(pthread_mutex_unlock(&first);)
  if (one) {
    pthread_mutex_lock(&second);
    two = data2;
    pthread_mutex_unlock(&second);
  }
  FIX(pthread_mutex_unlock(&first);)
  REQUIRE(two == (one ? one + 1 : 0));
  return unused;
}

int main(void) {
  run_many(99, write_both, 1, read_both);
  return 0;
}
