// Both threads also count in an atomic counter, whose value neither of them looks at. So that they
// count one after the other orders nothing that they do beside.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
long total;

static void* first(void* unused) {
  guard(&mutex);
  total += 3;  // RACE
  unguard(&mutex);
  __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  return unused;
}

static void* second(void* unused) {
  pause_ms(20);
  __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  guard(&mutex);
  total += 4;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(first, second);
  return total != 7 && !RACY;
}
