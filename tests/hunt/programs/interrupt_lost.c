// To interrupt a thread sets a flag and wakes what it waits for, if it waits. The thread has
// looked at the flag, but not yet said what it is going to wait for.
#include "planted.h"

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t of_thread = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_interrupted;
static pthread_cond_t* volatile waits_for;

static void* wait_for_it(void* unused) {
  lock();
  pthread_mutex_lock(&of_thread);
  const int is_over = is_interrupted;
  BUG(pthread_mutex_unlock(&of_thread);)
  if (!is_over) {
    BUG(pthread_mutex_lock(&of_thread);)
    waits_for = &condition;
    pthread_mutex_unlock(&of_thread);
    pthread_cond_wait(&condition, &g_lock);
  } else {
    FIX(pthread_mutex_unlock(&of_thread);)
  }
  unlock();
  return unused;
}

static void* interrupt(void* unused) {
  pthread_mutex_lock(&of_thread);
  is_interrupted = 1;
  pthread_cond_t* its = waits_for;
  pthread_mutex_unlock(&of_thread);
  if (!its) return unused;
  lock();
  pthread_cond_signal(its);
  unlock();
  return unused;
}

int main(void) {
  RUN(wait_for_it, interrupt);
  return 0;
}
