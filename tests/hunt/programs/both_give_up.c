// Each takes its lock and tries the other's; who does not get it gives up for good. Both may.
#include "planted.h"

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int done;

static void* exchange(void* number) {
  const long mine = FIX(0 *)(long) number, other = 1 - mine;
  pthread_mutex_lock(&locks[mine]);
  if (pthread_mutex_trylock(&locks[other]) == 0) {
    done++;
    pthread_mutex_unlock(&locks[other]);
  }
  pthread_mutex_unlock(&locks[mine]);
  return NULL;
}

int main(void) {
  RUN(exchange, exchange);
  REQUIRE(done == 2);
  return 0;
}
