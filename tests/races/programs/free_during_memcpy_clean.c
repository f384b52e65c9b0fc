// Copy and free are both under the mutex, and the copier looks first whether the buffer is still there.
#include "program.h"

char* source;
char target[4096];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* copier(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    if (source) memcpy(target, source, sizeof target);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* freer(void* unused) {
  pause_ms(7);
  pthread_mutex_lock(&mutex);
  free(source);
  source = NULL;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  source = (char*)calloc(1, sizeof target);
  run_two(copier, freer);
  return 0;
}
