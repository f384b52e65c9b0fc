// pthread_join() writes a result to a variable, which another thread asks without waiting for that.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t worker;
static void* result;

static void* work(void* unused) {
  pause_ms(10);
  return unused ? NULL : (void*)7;
}

static void* joiner(void* unused) {
  guard(&mutex);
  pthread_join(worker, &result);  // RACE
  unguard(&mutex);
  return unused;
}

static void* asker(void* unused) {
  pause_ms(30);
  guard(&mutex);
  use((long)result);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  worker = start(work, NULL);
  run_two(joiner, asker);
  return 0;
}
