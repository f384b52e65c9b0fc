// How long a thread is to sleep is changed by another one.
#include <time.h>

#include "twin.h"

static struct timespec pause_for = {0, 1000};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) nanosleep(&pause_for, NULL);  // RACE
  else pause_for.tv_nsec = 2000;  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
