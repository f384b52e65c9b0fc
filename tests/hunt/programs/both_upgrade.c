// A read-write lock of its own: who upgrades waits until all other readers have left. Two who
// upgrade wait for each other.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, value;

static void* change(void* unused) {
  lock();
  readers++;
  unlock();
  const int read = value;
  lock();
#ifdef FIXED
  readers--;
  (void)read;
  value++;
#else
  while (readers > 1) pthread_cond_wait(&changed, &g_lock);
  value = read + 1;
  readers--;
#endif
  pthread_cond_broadcast(&changed);
  unlock();
  return unused;
}

int main(void) {
  RUN(change, change);
  return 0;
}
