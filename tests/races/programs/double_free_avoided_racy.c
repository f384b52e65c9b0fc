// Who frees the block is decided by a plain flag that both threads set; the block itself is never freed by the race.
#include "program.h"

struct Shared {
  char* block;
  int freed;
} shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* body(void* unused) {
  if (!shared.freed) {  // RACE
    shared.freed = 1;   // RACE
  }
  return unused;
}

int main(void) {
  shared.block = (char*)malloc(100);
  run_two(body, body);
  free(shared.block);
  return 0;
}
