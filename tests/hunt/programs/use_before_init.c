// A thread uses what its creator sets up after it has made the thread.
#include "planted.h"

static int* volatile table;

static void* use(void* unused) {
  REQUIRE(table != NULL && table[0] == 4);
  return unused;
}

int main(void) {
  static int storage[1];
  pthread_t thread;
  FIX(storage[0] = 4; table = storage;)
  pthread_create(&thread, NULL, use, NULL);
  BUG(storage[0] = 4; table = storage;)
  pthread_join(thread, NULL);
  return 0;
}
