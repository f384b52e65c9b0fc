// Peterson's lock with volatile variables: it would exclude on a simple machine, but not in C. It gives up after a
// while.
#include "program.h"

volatile int wants[2], turn;
long inside;
static void* body(void* argument) {
  int me = (int)(long)argument, other = 1 - me;
  for (int i = 0; i < 20; ++i) {
    wants[me] = 1;                                                                // RACE
    turn = other;                                                                 // RACE
    for (int j = 0; j < 20 && wants[other] && turn == other; ++j) sched_yield();  // RACE
    inside++;                                                                     // RACE
    wants[me] = 0;                                                                // RACE
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0), two = start(body, (void*)1);
  join(one);
  join(two);
  return inside > 0 ? 0 : 1;
}
