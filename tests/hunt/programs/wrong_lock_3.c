// One thread uses a variable under one lock, three others under another one.
#include "planted.h"

BUG(static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;)
static volatile int value;

static void* use(void* unused) {
  lock();
  const int before = value;
  value = before + 1;
  REQUIRE(value == before + 1);
  unlock();
  return unused;
}

static void* use_wrongly(void* unused) {
  BUG(pthread_mutex_lock(&other);)
  FIX(lock();)
  value = value + 1;
  FIX(unlock();)
  BUG(pthread_mutex_unlock(&other);)
  return unused;
}

int main(void) {
  run_many(1, use, 3, use_wrongly);
  return 0;
}
