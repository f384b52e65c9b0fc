// The working directory's name goes into one buffer while another thread reads that.
#include "twin.h"

static char path[256];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (getcwd(path, sizeof path) == NULL) abort();  // RACE
  } else {
    use((long)strlen(path));  // RACE
  }
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
