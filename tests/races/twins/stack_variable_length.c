// An array of variable length on main's stack, whose second element two threads store.
#include "twin.h"

static void* body(void* argument) {
  int* place = (int*)argument;
  *place = 7;  // RACE
  return NULL;
}

__attribute__((noinline)) static void fill(int length) {
  int values[length];
  pthread_t one = start(body, &values[1]);
  pthread_t two = start(body, &values[RACY ? 1 : 2]);
  join(one);
  join(two);
  use(values[1]);
}

int main(void) {
  fill(16);
  return 0;
}
