// A handler in one thread counts in a lock-free atomic that another thread reads all the while.
#include "program.h"

#include <signal.h>

_Atomic int count;
static void on_signal(int number) { count = count + (number == SIGUSR1); }

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) raise(SIGUSR1), usleep(50);
  return unused;
}

static void* other(void* unused) {
  for (int i = 0; i < 20; ++i) use(count), usleep(50);
  return unused;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  run_two(body, other);
  return 0;
}
