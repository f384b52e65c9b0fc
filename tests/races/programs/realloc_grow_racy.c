// One thread lets the buffer grow by realloc under a lock, the other one writes into it without.
#include "program.h"

char* buffer;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* grower(void* unused) {
  for (size_t size = 64; size < 4096; size *= 2) {
    pthread_mutex_lock(&mutex);
    buffer = (char*)realloc(buffer, size);  // RACE
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

static void* user(void* unused) {
  for (int i = 0; i < 50; ++i) {
    use(buffer[40]);  // RACE
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
