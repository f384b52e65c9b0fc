// A heap structure with counters of its threads and a state that is changed at the end.
#include "twin.h"

struct shared {
  pthread_mutex_t mutex;
  long counts[2];
  int state;
};
static struct shared* shared;

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 300000; ++i) shared->counts[me]++, use(i);
  guard(&shared->mutex);
  shared->state = (int)me + 1;  // RACE
  unguard(&shared->mutex);
  return NULL;
}

int main(void) {
  shared = calloc(1, sizeof *shared);
  pthread_mutex_init(&shared->mutex, NULL);
  run_threads(2, body);
  use(shared->state);
  return 0;
}
