// Two barriers keep the parts of a round apart; the racy loop has only one of them.
#include "twin.h"

static int parts[2], total;
static pthread_barrier_t barrier;

static void* body(void* number) {
  const long me = (long)number;
  for (int round = 0; round < 4; ++round) {
    parts[me] = round;  // RACE
    pthread_barrier_wait(&barrier);
    if (me == 0) total += parts[0] + parts[1];  // RACE
    if (!RACY) pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 2);
  run_threads(2, body);
  use(total);
  return 0;
}
