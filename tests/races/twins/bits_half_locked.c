// One thread sets a bit-field under the lock, another one its neighbour without.
#include "twin.h"

static struct {
  unsigned state : 3, kind : 5, count : 24;
} header;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* one(void* unused) {
  pthread_mutex_lock(&mutex);
  header.state = 2;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* two(void* unused) {
  pause_ms(10);
  guard(&mutex);
  header.count++;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(one, two);
  return header.count == 1 ? 0 : 1;
}
