// Threads before and after a fork; the child changes its own copy, the second pair races or not.
#include <sys/wait.h>

#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void* locked(void* unused) {
  pthread_mutex_lock(&mutex);
  total++;
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* maybe_locked(void* unused) {
  guard(&mutex);
  total++;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(locked, locked);
  const pid_t child = fork();
  if (child == 0) {
    total = 100;
    _exit(0);
  }
  waitpid(child, NULL, 0);
  run_two(maybe_locked, maybe_locked);
  use(total);
  return 0;
}
