// Threads of a team that use a lock of POSIX's.
#include "twin.h"

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int count = 0;
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 10; ++i) {
    guard(&mutex);
    count += i;  // RACE
    unguard(&mutex);
  }
  use(count);
  return 0;
}
