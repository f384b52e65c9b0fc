// Two threads change a local variable of a third one under a lock.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void bump(long* cell) {
  pthread_mutex_lock(&lock);
  (*cell)++;
  pthread_mutex_unlock(&lock);
}

static void* early(void* cell) {
  bump(cell);
  return NULL;
}

static void* late(void* cell) {
  pause_ms(20);
  bump(cell);
  return NULL;
}

static void* third(void* unused) {
  long local = 0;
  pthread_t one = start(early, &local), two = start(late, &local);
  join(one);
  join(two);
  use(local);
  return unused;
}

int main(void) {
  join(start(third, NULL));
  return 0;
}
