// Counters have eight locks; their reader takes those of another table.
#include "twin.h"

enum { kCounters = 32, kLocks = 8 };
static pthread_mutex_t locks[2][kLocks];
static unsigned counts[kCounters];

static void* adder(void* unused) {
  for (unsigned i = 0; i < kCounters; ++i) {
    pthread_mutex_lock(&locks[0][i % kLocks]);
    counts[i] += i;  // RACE
    pthread_mutex_unlock(&locks[0][i % kLocks]);
  }
  return unused;
}

static void* reader(void* unused) {
  unsigned sum = 0;
  for (unsigned i = 0; i < kCounters; ++i) {
    pthread_mutex_lock(&locks[RACY][i % kLocks]);
    sum += counts[i];  // RACE
    pthread_mutex_unlock(&locks[RACY][i % kLocks]);
  }
  use(sum);
  return unused;
}

int main(void) {
  for (int i = 0; i < kLocks; ++i) {
    pthread_mutex_init(&locks[0][i], NULL);
    pthread_mutex_init(&locks[1][i], NULL);
  }
  run_two(adder, reader);
  return 0;
}
