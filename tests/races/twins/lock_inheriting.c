// Locks that lend their owner the priority of a task that waits; one thread uses the other one.
#include "twin.h"

static pthread_mutex_t locks[2];
static int value;

static void* body(void* number) {
  pthread_mutex_t* mine = &locks[RACY && (long)number == 2];
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(mine);
    value += 1;  // RACE
    pause_ms(2);
    pthread_mutex_unlock(mine);
    pause_ms(1);
  }
  return NULL;
}

int main(void) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
  for (int i = 0; i < 2; ++i) pthread_mutex_init(&locks[i], &kind);
  run_threads(3, body);
  use(value);
  return 0;
}
