// main asks a worker to stop by a relaxed atomic store: nothing else is to be ordered.
#include "program.h"

int stop;
long rounds;
static void* worker(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    ++rounds;
    usleep(200);
  }
  return unused;
}

int main(void) {
  pthread_t thread = start(worker, NULL);
  pause_ms(4);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  join(thread);
  return rounds > 0 ? 0 : 1;
}
