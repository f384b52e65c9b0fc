// A function unlocks for its caller, which goes on to change what the lock guards.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int length, longest;

static void grow_and_unlock(void) {
  length++;
  pthread_mutex_unlock(&mutex);
}

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    if (RACY) {
      grow_and_unlock();
      longest = longest + 2;  // RACE
    } else {
      longest = longest + 2;
      grow_and_unlock();
    }
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  use(longest);
  return 0;
}
