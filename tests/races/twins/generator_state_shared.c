// Two threads draw numbers by drand48_r() from one state.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct drand48_data state;

static void* body(void* number) {
  double drawn;
  pause_ms(5 * (int)(long)number);
  guard(&mutex);
  drand48_r(&state, &drawn);  // RACE
  unguard(&mutex);
  use((long)(drawn * 100));
  return NULL;
}

int main(void) {
  srand48_r(3, &state);
  run_threads(2, body);
  return 0;
}
