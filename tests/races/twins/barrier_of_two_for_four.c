// Four threads meet at a barrier that was made for two of them, or for all.
#include "twin.h"

static pthread_barrier_t barrier;
static long sums[4];

static void* body(void* number) {
  const long me = (long)number;
  sums[me] = me + 1;  // RACE
  pthread_barrier_wait(&barrier);
  long total = 0;
  for (int i = 0; i < 4; ++i) total += sums[i];  // RACE
  use(total);
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, RACY ? 2 : 4);
  run_threads(4, body);
  return 0;
}
