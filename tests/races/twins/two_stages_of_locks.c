// Two stages with a lock each; the reader of the second takes the lock of the first only.
#include "twin.h"

static int value;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void* writer(void* unused) {
  pthread_mutex_lock(&first);
  use(1);
  pthread_mutex_unlock(&first);
  pthread_mutex_lock(&second);
  value = 2;  // RACE
  pthread_mutex_unlock(&second);
  return unused;
}

static void* reader(void* unused) {
  pthread_mutex_t* const lock = RACY ? &first : &second;
  pause_ms(1);
  pthread_mutex_lock(lock);
  use(value);  // RACE
  pthread_mutex_unlock(lock);
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
