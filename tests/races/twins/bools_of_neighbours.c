// Bools beside each other, each with a thread and a lock; one thread asks the other's.
#include <stdbool.h>

#include "twin.h"

static bool open[2];
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void* body(void* number) {
  const long me = (long)number;
  pthread_mutex_lock(&locks[me]);
  open[me] = true;  // RACE
  pthread_mutex_unlock(&locks[me]);
  pause_ms(1);
  if (me == 0) {
    pthread_mutex_lock(&locks[RACY ? 0 : 1]);
    use(open[1]);  // RACE
    pthread_mutex_unlock(&locks[RACY ? 0 : 1]);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
