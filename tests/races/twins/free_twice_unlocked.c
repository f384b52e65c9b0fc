// The pointer to a buffer is stored under a lock and freed without it.
#include "twin.h"

static struct {
  int* buffer;
} callback;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* dump(void* argument) {
  if (argument != NULL) pause_ms(40);
  pthread_mutex_lock(&mutex);
  callback.buffer = (int*)malloc(64);  // RACE
  callback.buffer[0] = 1;
  int* mine = callback.buffer;
  pthread_mutex_unlock(&mutex);
  if (RACY) mine = callback.buffer;  // RACE
  free(mine);
  return NULL;
}

int main(void) {
  run_threads(2, dump);
  return 0;
}
