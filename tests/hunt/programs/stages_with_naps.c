// Twenty readers and one writer of two values that belong together; naps make the native run right.
#include "planted.h"

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER,
                       second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void* write_both(void* unused) {
  FIX(lock();)
  pthread_mutex_lock(&first_lock);
  first = 1;
  pthread_mutex_unlock(&first_lock);
  pthread_mutex_lock(&second_lock);
  second = first + 1;
  pthread_mutex_unlock(&second_lock);
  FIX(unlock();)
  return unused;
}

static void* read_both(void* number) {
  usleep(1000 * (useconds_t)(long)number);
  FIX(lock();)
  pthread_mutex_lock(&first_lock);
  const int one = first;
  pthread_mutex_unlock(&first_lock);
  if (one) {
    pthread_mutex_lock(&second_lock);
    const int two = second;
    pthread_mutex_unlock(&second_lock);
    REQUIRE(two == one + 1);
  }
  FIX(unlock();)
  return NULL;
}

int main(void) {
  run_many(1, write_both, 20, read_both);
  return 0;
}
