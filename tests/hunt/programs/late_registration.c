// An event is reported once; who registers after it hears nothing and waits for good.
#include "planted.h"

static pthread_cond_t heard = PTHREAD_COND_INITIALIZER;
static int is_registered, has_heard, has_happened;

static void* report(void* unused) {
  lock();
  has_happened = 1;
  if (is_registered) {
    has_heard = 1;
    pthread_cond_signal(&heard);
  }
  unlock();
  return unused;
}

static void* listen_once(void* unused) {
  lock();
  is_registered = 1;
  FIX(if (has_happened) has_heard = 1;)
  while (!has_heard) pthread_cond_wait(&heard, &g_lock);
  unlock();
  return unused;
}

int main(void) {
  RUN(listen_once, report);
  return 0;
}
