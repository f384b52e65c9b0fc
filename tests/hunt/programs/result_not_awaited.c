// The main thread takes part in a transform and prints the result; who counts the threads that
// are done does so under a lock, but main looks once.
#include <sched.h>

#include "planted.h"

enum { kThreads = 3 };
static int done;
static volatile int part[kThreads];
static pthread_cond_t is_done = PTHREAD_COND_INITIALIZER;

static void* transform(void* number) {
  part[(long)number] = 1 + (int)(long)number;
  lock();
  done++;
  pthread_cond_signal(&is_done);
  unlock();
  return NULL;
}

int main(void) {
  pthread_t thread;
  for (long i = 0; i < kThreads; i++) {
    pthread_create(&thread, NULL, transform, (void*)i);
    sched_yield();
    pthread_detach(thread);
  }
  lock();
  BUG(if) FIX(while)(done < kThreads) pthread_cond_wait(&is_done, &g_lock);
  unlock();
  for (int i = 0; i < kThreads; i++) REQUIRE(part[i] == i + 1);
  return 0;
}
