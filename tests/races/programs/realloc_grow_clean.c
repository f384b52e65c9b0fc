// One thread lets the buffer grow by realloc, the other writes into it, both under the lock.
#include "program.h"

char* buffer;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* grower(void* unused) {
  for (size_t size = 64; size < 4096; size *= 2) {
    pthread_mutex_lock(&mutex);
    buffer = (char*)realloc(buffer, size);
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

static void* user(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    buffer[40] = (char)i;
    pthread_mutex_unlock(&mutex);
    usleep(20);
  }
  return unused;
}

int main(void) {
  buffer = (char*)calloc(1, 64);
  run_two(grower, user);
  free(buffer);
  return 0;
}
