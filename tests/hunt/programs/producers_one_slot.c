// One slot, one condition, `if` for `while`: a thread that comes late takes what another one was
// woken for. Sizes as in the small kernels: two that put, two that take.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count;

static void* put(void* unused) {
  lock();
  BUG(if) FIX(while)(count > 0) pthread_cond_wait(&changed, &g_lock);
  count++;
  REQUIRE(count <= 1);
  pthread_cond_broadcast(&changed);
  unlock();
  return unused;
}

static void* take(void* unused) {
  lock();
  BUG(if) FIX(while)(count == 0) pthread_cond_wait(&changed, &g_lock);
  count--;
  REQUIRE(count >= 0);
  pthread_cond_broadcast(&changed);
  unlock();
  return unused;
}

int main(void) {
  RUN(put, take, put, take);
  return 0;
}
