// Set up once under a lock that the first one makes and deletes again: a second one that has not
// found the work done waits for a lock that is gone.
#include "planted.h"

static volatile int is_done, value;
static pthread_mutex_t* volatile once_lock;
static volatile int users;

static void enter(void) {
  lock();
  if (!once_lock) {
    once_lock = malloc(sizeof *once_lock);
    pthread_mutex_init(once_lock, NULL);
  }
  FIX(users++;)
  unlock();
}

static void once(void) {
  if (is_done) return;
  enter();
  pthread_mutex_lock(once_lock);
  if (!is_done) {
    value = 5;
    is_done = 1;
  }
  pthread_mutex_unlock(once_lock);
  lock();
  if (BUG(once_lock) FIX(--users == 0)) {
    pthread_mutex_destroy(once_lock);
    free(once_lock);
    once_lock = NULL;
  }
  unlock();
}

static void* use(void* unused) {
  once();
  REQUIRE(value == 5);
  return unused;
}

int main(void) {
  RUN(use, use);
  return 0;
}
