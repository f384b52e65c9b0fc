// A macro counts; its lock is another macro, which the racy program has empty.
#include "twin.h"

static struct {
  long calls;
} counters;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#if RACY
#define LOCKED(what) what
#else
#define LOCKED(what) pthread_mutex_lock(&mutex), what, pthread_mutex_unlock(&mutex)
#endif
#define COUNT(counter) LOCKED(++counters.counter)

static void* body(void* unused) {
  for (int i = 0; i < 6; ++i) COUNT(calls);  // RACE
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(counters.calls + (long)(&mutex != NULL));
  return 0;
}
