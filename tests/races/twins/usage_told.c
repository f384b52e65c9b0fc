// One thread has its usage written, another reads it.
#include <sys/resource.h>

#include "twin.h"

static struct rusage usage;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (getrusage(RUSAGE_SELF, &usage) != 0) abort();  // RACE
  } else {
    use(usage.ru_maxrss);  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
