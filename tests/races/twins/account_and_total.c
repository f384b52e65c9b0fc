// Each account has a lock of its own; the racy sum of all takes only the first one's.
#include "twin.h"

static long accounts[2] = {100, 100};
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void* transfer(void* unused) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&locks[0]);
    accounts[0] -= i;
    pthread_mutex_unlock(&locks[0]);
    pthread_mutex_lock(&locks[1]);
    accounts[1] += i;  // RACE
    pthread_mutex_unlock(&locks[1]);
  }
  return unused;
}

static void* sum(void* unused) {
  pthread_mutex_lock(&locks[0]);
  long all = accounts[0];
  pthread_mutex_unlock(&locks[0]);
  guard(&locks[1]);
  all += accounts[1];  // RACE
  unguard(&locks[1]);
  use(all);
  return unused;
}

int main(void) {
  run_two(transfer, sum);
  return 0;
}
