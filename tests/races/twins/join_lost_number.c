// The number of a thread is stored over that of an earlier one, which nobody joins then.
#include "twin.h"

int data;

static void* early(void* unused) {
  pause_ms(20);
  data++;  // RACE
  return unused;
}

static void* late(void* unused) { return unused; }

int main(void) {
  pthread_t threads[2];
  threads[0] = start(early, NULL);
  threads[RACY ? 0 : 1] = start(late, NULL);
  join(threads[0]);
  if (!RACY) join(threads[1]);
  use(data);  // RACE
  return 0;
}
