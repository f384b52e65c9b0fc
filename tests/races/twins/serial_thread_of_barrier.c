// One thread of a barrier adds the parts; the others read the sum behind a second barrier.
#include "twin.h"

static pthread_barrier_t barrier;
static int parts[3], total;

static void* body(void* number) {
  parts[(long)number] = 1;
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
    total = parts[0] + parts[1] + parts[2];  // RACE
  if (!RACY) pthread_barrier_wait(&barrier);
  use(total);  // RACE
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 3);
  run_threads(3, body);
  return 0;
}
