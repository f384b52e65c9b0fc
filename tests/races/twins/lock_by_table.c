// Which lock a section takes is a function from a table; the racy table has one that does nothing.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int value;

static int nothing(pthread_mutex_t* unused) { return unused == NULL; }

struct locking {
  int (*take)(pthread_mutex_t*);
  int (*give)(pthread_mutex_t*);
};
static const struct locking real = {pthread_mutex_lock, pthread_mutex_unlock};
static const struct locking none = {nothing, nothing};

static void* body(void* number) {
  const struct locking* volatile chosen = (long)number == 1 && RACY ? &none : &real;
  pause_ms(5 * (int)(long)number);
  chosen->take(&mutex);
  value += 1;  // RACE
  chosen->give(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(value);
  return 0;
}
