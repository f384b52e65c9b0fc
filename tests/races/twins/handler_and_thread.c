// A signal's handler in main counts what a thread counts too; racy: the thread blocks nothing else.
#include <signal.h>

#include "twin.h"

static long counts[2];

static void on_signal(int number) {
  (void)number;
  counts[0] += 1;  // RACE
}

static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) counts[!RACY] += 1;  // RACE
  return unused;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  pthread_t thread = start(body, NULL);
  for (int i = 0; i < 3; ++i) raise(SIGUSR1);
  join(thread);
  use(counts[0]);
  return 0;
}
