// A thread has ended before main goes on; main reads a neighbour, then what the thread has stored, and joins it later.
#include "twin.h"

int limit = 3, result;

static void* body(void* unused) {
  result = 17;  // RACE
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pause_ms(30);
  use(limit);
  if (!RACY) join(thread);
  use(result);  // RACE
  if (RACY) join(thread);
  return 0;
}
