// The owner is found by compare-and-exchange, but who loses writes as well.
#include "program.h"

int owner, value;
static void* body(void* argument) {
  int nobody = 0, self = *(int*)argument;
  if (__atomic_compare_exchange_n(&owner, &nobody, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) value = self;  // RACE
  else value = -self;                                                                                           // RACE
  return NULL;
}

int main(void) {
  int numbers[2] = {1, 2};
  pthread_t one = start(body, &numbers[0]), two = start(body, &numbers[1]);
  join(one);
  join(two);
  return value == 0;
}
