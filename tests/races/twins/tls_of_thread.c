// A thread publishes the address of its thread-local buffer by a lock, and goes on writing there.
#include "twin.h"

static __thread int buffer[4];
int* published;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* owner(void* unused) {
  pthread_mutex_lock(&mutex);
  published = buffer;
  pthread_mutex_unlock(&mutex);
  guard(&mutex);
  buffer[2] = 5;  // RACE
  unguard(&mutex);
  pause_ms(60);
  return unused;
}

static void* reader(void* unused) {
  pause_ms(25);
  pthread_mutex_lock(&mutex);
  int* seen = published;
  if (!RACY && seen != NULL) use(seen[2]);
  pthread_mutex_unlock(&mutex);
  if (RACY && seen != NULL) use(seen[2]);  // RACE
  return unused;
}

int main(void) {
  run_two(owner, reader);
  return 0;
}
