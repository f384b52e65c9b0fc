// A thread is waited for by pthread_tryjoin_np and pthread_clockjoin_np. Then all that it did is known.
#include "program.h"

int done, later;

static void* work(void* unused) {
  pause_ms(5);
  done = 1;
  later = 1;
  return unused;
}

int main(void) {
  pthread_t thread = start(work, NULL);
  while (pthread_tryjoin_np(thread, NULL) == EBUSY) pause_ms(1);
  done++;
  thread = start(work, NULL);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 10;
  if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0) abort();
  use(later);
  return 0;
}
