// A thread's signal handler counts in what another thread counts in.
#include <signal.h>

#include "twin.h"

static int counts[2];

static void handler(int signal) {
  (void)signal;
  counts[0]++;  // RACE
}

static void* receiver(void* unused) {
  for (int i = 0; i < 5; ++i) raise(SIGUSR1);
  return unused;
}

static void* other(void* unused) {
  for (int i = 0; i < 5; ++i) counts[RACY ? 0 : 1]++;  // RACE
  return unused;
}

int main(void) {
  signal(SIGUSR1, handler);
  run_two(receiver, other);
  return counts[0] > 0 ? 0 : 1;
}
