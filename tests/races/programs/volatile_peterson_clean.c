// Peterson's lock with sequentially consistent atomics.
#include "program.h"

_Atomic int wants[2], turn;
long inside;
static void* body(void* argument) {
  int me = (int)(long)argument, other = 1 - me;
  for (int i = 0; i < 20; ++i) {
    wants[me] = 1;
    turn = other;
    while (wants[other] && turn == other) sched_yield();
    inside++;
    wants[me] = 0;
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0), two = start(body, (void*)1);
  join(one);
  join(two);
  return inside > 0 ? 0 : 1;
}
