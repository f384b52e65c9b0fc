// A cleanup handler gives the lock back where a thread leaves; the racy one counts behind that.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void leave(void* unused) {
  (void)unused;
  if (!RACY) count += 1;
  pthread_mutex_unlock(&mutex);
  if (RACY) count += 1;  // RACE
}

static void work(int number) {
  if (number >= 0) pthread_exit(NULL);
}

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(leave, NULL);
  work((int)(long)number);
  pthread_cleanup_pop(1);
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(count);
  return 0;
}
