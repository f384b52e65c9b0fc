// A signal's handler reads two values that the interrupted thread was changing.
#include <signal.h>

#include "planted.h"

static volatile int balance[2] = {5, 5}, has_seen_half;
static pthread_t worker;

static void look(int unused) {
  (void)unused;
  if (balance[0] + balance[1] != 10) has_seen_half = 1;
}

static void* change(void* unused) {
  FIX(sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &set, NULL);)
  balance[0] = 4;
  balance[1] = 6;
  FIX(pthread_sigmask(SIG_UNBLOCK, &set, NULL);)
  return unused;
}

static void* interrupt(void* unused) {
  pthread_kill(worker, SIGUSR1);
  return unused;
}

int main(void) {
  pthread_t other;
  signal(SIGUSR1, look);
  pthread_create(&worker, NULL, change, NULL);
  pthread_create(&other, NULL, interrupt, NULL);
  pthread_join(other, NULL);
  pthread_join(worker, NULL);
  REQUIRE(!has_seen_half);
  return 0;
}
