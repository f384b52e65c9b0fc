// A local that is set under a condition only, and asked under the same condition beside the shared one.
#include "twin.h"

static int limit = 5, has_limit, sums[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  int own, sum = 0;
  if (has_limit) own = 3;
  for (int i = 0; i < 10; ++i) {
    if (has_limit && i > own) break;
    guard(&mutex);
    sum += limit;  // RACE
    unguard(&mutex);
  }
  sums[(long)number] = sum;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0);
  pthread_mutex_lock(&mutex);
  limit = 7;  // RACE
  pthread_mutex_unlock(&mutex);
  join(one);
  use(sums[0]);
  return 0;
}
