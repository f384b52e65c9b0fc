// A thread ends the program while another one has just stored what the first has stored too.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int result;

static void* worker(void* unused) {
  guard(&mutex);
  result = 2;  // RACE
  unguard(&mutex);
  pause_ms(100);
  return unused;
}

static void* ender(void* unused) {
  guard(&mutex);
  result = 1;  // RACE
  unguard(&mutex);
  exit(0);
  return unused;
}

int main(void) {
  run_two(worker, ender);
  return 0;
}
