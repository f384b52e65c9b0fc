// A buffer is freed by the cursor that walks through it: right as long as no other thread has moved
// it.
#include "planted.h"

static char* volatile cursor;

static void* step(void* unused) {
  lock();
  FIX(if (cursor))
  cursor = cursor + 8;
  unlock();
  return unused;
}

static void* finish(void* unused) {
  lock();
  BUG(free(cursor);)
  FIX(cursor = NULL;)
  unlock();
  return unused;
}

int main(void) {
  char* const buffer = malloc(64);
  cursor = buffer;
  RUN(finish, step);
  FIX(free(buffer);)
  return 0;
}
