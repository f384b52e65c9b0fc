// The address of main's local variable is in a global one before the first thread is there: both change it under a lock.
#include "program.h"

static long* cell;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  pause_ms(20);
  pthread_mutex_lock(&lock);
  (*cell)++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  long local = 0;
  cell = &local;
  pthread_t thread = start(body, NULL);
  pthread_mutex_lock(&lock);
  local++;
  pthread_mutex_unlock(&lock);
  pause_ms(40);
  join(thread);
  use(local);
  return 0;
}
