// After a barrier behind much work on the page one thread sets what the others ask.
#include "twin.h"

static struct {
  long sums[3];
  int mode;
} page __attribute__((aligned(4096)));
static pthread_barrier_t barrier;

static void* body(void* number) {
  const long me = (long)number;
  for (int k = 0; k < 100000; ++k) page.sums[me] += k, use(k);
  pthread_barrier_wait(&barrier);
  if (me == 0) {
    page.mode = 1;  // RACE
    if (!RACY) pthread_barrier_wait(&barrier);
  } else {
    if (!RACY) pthread_barrier_wait(&barrier);
    use(page.mode);  // RACE
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 3);
  run_threads(3, body);
  return 0;
}
