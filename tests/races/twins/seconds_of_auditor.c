// An auditor sums accounts between which money moves under a lock.
#include "twin.h"

static long accounts[6] = {100, 100, 100, 100, 100, 100};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* move(void* unused) {
  for (int i = 0; i < 300; ++i) {
    pthread_mutex_lock(&mutex);
    accounts[i % 6] -= 1;        // RACE
    accounts[(i + 1) % 6] += 1;  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* audit(void* unused) {
  long sum = 0;
  pause_ms(1);
  guard(&mutex);
  for (int i = 0; i < 6; ++i) sum += accounts[i];  // RACE
  unguard(&mutex);
  use(sum);
  return unused;
}

int main(void) {
  run_two(move, audit);
  return 0;
}
