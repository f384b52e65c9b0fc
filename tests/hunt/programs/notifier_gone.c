// Who waits for a notifier frees it as soon as the flag is up; the one who notifies still has to
// call by it.
#include "planted.h"

static struct Notifier {
  pthread_mutex_t lock;
  pthread_cond_t condition;
  int is_up, is_gone;
} notifier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void* notify(void* unused) {
  pthread_mutex_lock(&notifier.lock);
  notifier.is_up = 1;
  FIX(pthread_cond_signal(&notifier.condition);)
  pthread_mutex_unlock(&notifier.lock);
  BUG(REQUIRE(!notifier.is_gone); pthread_cond_signal(&notifier.condition);)
  return unused;
}

static void* wait(void* unused) {
  pthread_mutex_lock(&notifier.lock);
  while (!notifier.is_up) pthread_cond_wait(&notifier.condition, &notifier.lock);
  pthread_mutex_unlock(&notifier.lock);
  notifier.is_gone = 1;
  return unused;
}

int main(void) {
  RUN(notify, wait);
  return 0;
}
