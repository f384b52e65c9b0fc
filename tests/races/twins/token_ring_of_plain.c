// Threads pass a turn around a ring; the racy turn is a plain variable.
#include <stdatomic.h>

#include "twin.h"

static atomic_int turn;
static int plain_turn, value;

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int tries = 0; tries < 2000; ++tries) {
    if ((RACY ? plain_turn : atomic_load(&turn)) != me) {  // RACE
      usleep(50);
      continue;
    }
    value++;
    if (RACY) plain_turn = me + 1;  // RACE
    else atomic_store(&turn, me + 1);
    break;
  }
  return NULL;
}

int main(void) {
  run_threads(3, body);
  use(value);
  return 0;
}
