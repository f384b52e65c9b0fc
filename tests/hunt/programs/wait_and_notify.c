// Two locks, one within the other in either order: a wait gives back the inner one only, and the
// one that notifies takes the outer one first.
#include "planted.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_ready, is_closed;

static void* wait_for_it(void* unused) {
  lock();
  while (!is_ready) pthread_cond_wait(&condition, &g_lock);
  FIX(unlock();)
  pthread_mutex_lock(&outer);
  is_closed = 1;
  pthread_mutex_unlock(&outer);
  BUG(unlock();)
  return unused;
}

static void* notify(void* unused) {
  lock();
  is_ready = 1;
  pthread_cond_signal(&condition);
  unlock();
  pthread_mutex_lock(&outer);
  lock();
  if (!is_closed) is_ready = 2;
  unlock();
  pthread_mutex_unlock(&outer);
  return unused;
}

int main(void) {
  RUN(wait_for_it, notify);
  return 0;
}
