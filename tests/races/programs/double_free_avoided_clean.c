// Who frees the block is decided under the lock, so that it is freed once.
#include "program.h"

struct Shared {
  char* block;
  int freed;
} shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  pthread_mutex_lock(&mutex);
  if (!shared.freed) {
    shared.freed = 1;
    free(shared.block);
  }
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  shared.block = (char*)malloc(100);
  run_two(body, body);
  return 0;
}
