// An element is taken out of an array by memmove while another thread reads it.
#include "twin.h"

static int queue[16], length = 16;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* take(void* unused) {
  guard(&mutex);
  memmove(queue, queue + 1, sizeof queue[0] * (size_t)(length - 1));  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(5);
  guard(&mutex);
  use(queue[7]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  for (int i = 0; i < 16; ++i) queue[i] = i;
  run_two(take, look);
  return 0;
}
