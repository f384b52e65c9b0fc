// Two threads change a local variable of a third one, which waits for them.
#include "program.h"

static void bump(long* cell) {
  (*cell)++;  // RACE
}

static void* early(void* cell) {
  bump(cell);
  return NULL;
}

static void* late(void* cell) {
  pause_ms(20);
  bump(cell);
  return NULL;
}

static void* third(void* unused) {
  long local = 0;
  pthread_t one = start(early, &local), two = start(late, &local);
  join(one);
  join(two);
  use(local);
  return unused;
}

int main(void) {
  join(start(third, NULL));
  return 0;
}
