// One thread has the working folder written, another reads it.
#include <unistd.h>

#include "twin.h"

static char path[4096];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (!getcwd(path, sizeof path)) abort();  // RACE
  } else {
    use(path[0]);  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
