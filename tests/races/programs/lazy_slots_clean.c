// A counter beside the slots by which calls of the C library are bound, after many calls: both
// threads change it, under the same lock.
#include "program.h"

static long cold;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  const long me = (long)number;
  long sum = 0;
  for (int i = 0; i < 20000; ++i) sum += getppid() + rand_r(&(unsigned){(unsigned)i});
  use(sum);
  pause_ms(me ? 20 : 0);
  pthread_mutex_lock(&lock);
  cold++;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, (void*)1L);
  join(one);
  join(two);
  use(cold);
  return 0;
}
