// A worker asks a plain char in each round whether it shall end.
#include "twin.h"

static char stop;
static long rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int asked_to_stop(void) {
  guard(&mutex);
  const int answer = stop;  // RACE
  unguard(&mutex);
  return answer;
}

static void* worker(void* unused) {
  while (!asked_to_stop()) {
    rounds++;
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  pthread_t thread = start(worker, NULL);
  pause_ms(20);
  guard(&mutex);
  stop = 1;  // RACE
  unguard(&mutex);
  join(thread);
  use(rounds);
  return 0;
}
