// Whether a function locks depends on its argument, which one caller has wrong.
#include "twin.h"

static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add_one(int locks) {
  if (locks) pthread_mutex_lock(&mutex);
  count++;  // RACE
  if (locks) pthread_mutex_unlock(&mutex);
}

static void* one(void* unused) {
  add_one(1);
  return unused;
}

static void* other(void* unused) {
  add_one(!RACY);
  return unused;
}

int main(void) {
  run_two(one, other);
  use(count);
  return 0;
}
