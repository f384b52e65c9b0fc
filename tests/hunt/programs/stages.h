// Two fields, each under a lock of its own: a reader between the two stages sees one of them only.
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
  int one, two;
  pthread_mutex_lock(&first);
  one = data1;
  BUG(pthread_mutex_unlock(&first);)
  if (one == 0) {
    FIX(pthread_mutex_unlock(&first);)
    return unused;
  }
  pthread_mutex_lock(&second);
  two = data2;
  pthread_mutex_unlock(&second);
  FIX(pthread_mutex_unlock(&first);)
  REQUIRE(two == one + 1);
  return unused;
}

int main(void) {
  run_many(WRITERS, write_both, 1, read_both);
  return 0;
}
