// A thread reads its own number from where main stores it when it has made the thread.
#include "twin.h"

static pthread_t threads[2];

static void* body(void* unused) {
  pthread_t mine = RACY ? threads[0] : pthread_self();  // RACE
  use((long)mine);
  return unused;
}

int main(void) {
  threads[0] = start(body, NULL);  // RACE
  join(threads[0]);
  return 0;
}
