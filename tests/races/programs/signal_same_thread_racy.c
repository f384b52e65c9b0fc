// The handler and the code that it interrupts are one thread; but a second thread clears the flag.
#include "program.h"

#include <signal.h>

volatile sig_atomic_t caught;
static void on_signal(int number) { caught = number; }  // RACE

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_kill(pthread_self(), SIGUSR1);
    use(caught);  // RACE
  }
  return unused;
}

static void* other(void* unused) {
  for (int i = 0; i < 20; ++i) caught = 0;  // RACE
  return unused;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  run_two(body, other);
  return 0;
}
