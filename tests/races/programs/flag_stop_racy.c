// main asks a worker to stop by a plain int.
#include "program.h"

int stop;
long rounds;
static void* worker(void* unused) {
  for (int i = 0; i < 60 && !stop; ++i) {  // RACE
    ++rounds;
    usleep(200);
  }
  return unused;
}

int main(void) {
  pthread_t thread = start(worker, NULL);
  pause_ms(4);
  stop = 1;  // RACE
  join(thread);
  return rounds > 0 ? 0 : 1;
}
