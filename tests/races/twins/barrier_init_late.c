// The barrier is for one thread fewer than there are: the third is not held.
#include "twin.h"

int data;
static pthread_barrier_t barrier;

static void* body(void* argument) {
  if ((long)argument == 2) {
    pause_ms(30);
    data = 4;  // RACE
    if (!RACY) pthread_barrier_wait(&barrier);
    return NULL;
  }
  pthread_barrier_wait(&barrier);
  use(data);  // RACE
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, RACY ? 2 : 3);
  run_threads(3, body);
  return 0;
}
