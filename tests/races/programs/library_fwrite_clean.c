// Bytes are given to fwrite, and changed, under one mutex.
#include "program.h"

char bytes[64];
FILE* stream;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    if (fwrite(bytes, 1, sizeof bytes, stream) != sizeof bytes) abort();
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    bytes[i] = 1;
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  stream = fopen("/dev/null", "w");
  run_two(first, second);
  return 0;
}
