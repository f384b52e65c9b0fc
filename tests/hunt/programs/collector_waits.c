// A collector waits until no other thread is within a request; one that begins a request waits
// until the collector is done. Who is within one and begins another waits for ever.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int requests, is_collecting;

static void begin_request(int depth) {
  lock();
  while (is_collecting && BUG(depth >= 0) FIX(depth == 0)) pthread_cond_wait(&changed, &g_lock);
  requests++;
  unlock();
}

static void end_request(void) {
  lock();
  requests--;
  pthread_cond_broadcast(&changed);
  unlock();
}

static void* run_script(void* unused) {
  begin_request(0);
  begin_request(1);
  end_request();
  end_request();
  return unused;
}

static void* collect(void* unused) {
  lock();
  is_collecting = 1;
  while (requests > 0) pthread_cond_wait(&changed, &g_lock);
  is_collecting = 0;
  pthread_cond_broadcast(&changed);
  unlock();
  return unused;
}

int main(void) {
  RUN(run_script, collect);
  return 0;
}
