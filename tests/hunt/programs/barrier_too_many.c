// A barrier for three; one of the three leaves early if it sees that the work is done.
#include "planted.h"

static pthread_barrier_t barrier;
static volatile int is_done;

static void* work(void* number) {
  if ((long)number == 0) is_done = 1;
  BUG(if ((long)number == 2 && !is_done) return NULL;)
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 3);
  RUN(work, work, work);
  return 0;
}
