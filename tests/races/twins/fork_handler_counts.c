// A handler of pthread_atfork counts; another thread asks for the count without the lock.
#include "twin.h"

#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int forks;

static void prepare(void) {
  pthread_mutex_lock(&mutex);
  forks += 1;  // RACE
  pthread_mutex_unlock(&mutex);
}

static void* forker(void* unused) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  return unused;
}

static void* asker(void* unused) {
  pause_ms(10);
  guard(&mutex);
  use(forks);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  pthread_atfork(prepare, NULL, NULL);
  run_two(forker, asker);
  return 0;
}
