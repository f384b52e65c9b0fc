// The owner takes work from the tail of a queue plainly, thieves take it from the head under a lock.
#include "twin.h"

static int items[16], head, tail = 16;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* owner(void* unused) {
  for (int i = 0; i < 6; ++i) {
    guard(&mutex);
    if (tail > head) use(items[--tail]);  // RACE
    unguard(&mutex);
  }
  return unused;
}

static void* thief(void* unused) {
  for (int i = 0; i < 6; ++i) {
    pthread_mutex_lock(&mutex);
    if (head < tail) use(items[head++]);  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(owner, thief);
  return 0;
}
