// A handler writes a sig_atomic_t that only the interrupted thread itself reads.
#include "program.h"

#include <signal.h>

volatile sig_atomic_t caught;
static void on_signal(int number) { caught = number; }

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_kill(pthread_self(), SIGUSR1);
    use(caught);
  }
  return unused;
}

static void* other(void* unused) {
  for (int i = 0; i < 20; ++i) use(i);
  return unused;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  run_two(body, other);
  return 0;
}
