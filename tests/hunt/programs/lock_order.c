// Two locks in both orders.
#include "planted.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void with_both(pthread_mutex_t* first, pthread_mutex_t* second) {
  pthread_mutex_lock(first);
  pthread_mutex_lock(second);
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

static void* forwards(void* unused) {
  with_both(&a, &b);
  return unused;
}

static void* backwards(void* unused) {
#ifdef FIXED
  with_both(&a, &b);
#else
  with_both(&b, &a);
#endif
  return unused;
}

int main(void) {
  RUN(forwards, backwards);
  return 0;
}
