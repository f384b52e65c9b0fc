// The address of main's local variable is in a global one before the first thread is there: both change it.
#include "program.h"

static long* cell;
static void* body(void* unused) {
  pause_ms(20);
  (*cell)++;  // RACE
  return unused;
}

int main(void) {
  long local = 0;
  cell = &local;
  pthread_t thread = start(body, NULL);
  local++;  // RACE
  pause_ms(40);
  join(thread);
  use(local);
  return 0;
}
