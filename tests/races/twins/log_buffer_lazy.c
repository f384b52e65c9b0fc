// A buffer is allocated at its first use; the pointer is tested and used without the lock.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char* buffer;

static char* buffer_of_log(void) {
#if RACY
  if (buffer) return buffer;  // RACE
#endif
  pthread_mutex_lock(&mutex);
  if (!buffer) buffer = calloc(1, 256);  // RACE
  char* const found = buffer;
  pthread_mutex_unlock(&mutex);
  return found;
}

static void* body(void* number) {
  char* const mine = buffer_of_log() + 64 * (long)number;
  for (int i = 0; i < 64; ++i) mine[i] = (char)i;
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(buffer[10]);
  free(buffer);
  return 0;
}
