// A pool of threads for a sort: who has nothing to do looks whether all is done, and goes to sleep
// only later, when the call that all is done has gone by.
#include "planted.h"

enum { kWorkers = 4 };
static pthread_cond_t work_given = PTHREAD_COND_INITIALIZER;
static int idle, given, finished;

static void* help(void* unused) {
  lock();
  idle++;
  FIX(while (!given && !finished) pthread_cond_wait(&work_given, &g_lock);)
  BUG(const int is_over = finished; unlock(); lock();)
  BUG(if (!is_over && !given) pthread_cond_wait(&work_given, &g_lock);)
  idle--;
  if (given > 0) given--;
  unlock();
  return unused;
}

static void* divide(void* unused) {
  for (int i = 0; i < kWorkers; i++) {
    lock();
    if (idle) {
      given++;
      pthread_cond_signal(&work_given);
    }
    unlock();
  }
  lock();
  finished = 1;
  pthread_cond_broadcast(&work_given);
  unlock();
  return unused;
}

int main(void) {
  RUN(divide, help, help, help, help);
  return 0;
}
