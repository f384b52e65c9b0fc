// A signal's handler takes a lock that the interrupted thread may hold.
#include <signal.h>

#include "planted.h"

static pthread_t worker;
static int handled;

static void handler(int unused) {
  (void)unused;
  lock();
  handled++;
  unlock();
}

static void* work(void* unused) {
  FIX(sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &set, NULL);)
  lock();
  handled += 2;
  unlock();
  FIX(pthread_sigmask(SIG_UNBLOCK, &set, NULL);)
  return unused;
}

static void* interrupt(void* unused) {
  pthread_kill(worker, SIGUSR1);
  return unused;
}

int main(void) {
  pthread_t other;
  signal(SIGUSR1, handler);
  pthread_create(&worker, NULL, work, NULL);
  pthread_create(&other, NULL, interrupt, NULL);
  pthread_join(other, NULL);
  pthread_join(worker, NULL);
  return 0;
}
