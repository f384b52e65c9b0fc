// Threads draw their index from a counter, the racy ones without the lock.
#include "twin.h"

int next, slots[8];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  guard(&mutex);
  int mine = next++;  // RACE
  unguard(&mutex);
  slots[mine & 7] = 1;  // RACE
  return unused;
}

int main(void) {
  run_threads(4, body);
  return 0;
}
