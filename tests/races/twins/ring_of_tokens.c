// Each thread computes its value from its neighbour's; each value has a lock of its own.
#include "twin.h"

static int values[3];
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void* body(void* number) {
  const long mine = (long)number, before = (mine + 2) % 3;
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&locks[RACY ? mine : 0]);
    values[mine] = values[before] + 1;  // RACE
    pthread_mutex_unlock(&locks[RACY ? mine : 0]);
  }
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(values[0]);
  return 0;
}
