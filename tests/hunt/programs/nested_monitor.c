// Waits for a condition of the inner lock while it holds the outer one, which the waker needs.
#include "planted.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void* take(void* unused) {
  BUG(pthread_mutex_lock(&outer);)
  lock();
  while (items == 0) pthread_cond_wait(&filled, &g_lock);
  items--;
  unlock();
  BUG(pthread_mutex_unlock(&outer);)
  return unused;
}

static void* put(void* unused) {
  pthread_mutex_lock(&outer);
  lock();
  items++;
  pthread_cond_signal(&filled);
  unlock();
  pthread_mutex_unlock(&outer);
  return unused;
}

int main(void) {
  RUN(put, take);
  return 0;
}
