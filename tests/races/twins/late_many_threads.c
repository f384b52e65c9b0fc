// A hundred short threads come between the two that race.
#include "twin.h"

int value;

static void* nothing(void* unused) { return unused; }

static void* body(void* unused) {
  value++;  // RACE
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL);
  if (!RACY) join(one);
  for (int i = 0; i < 100; ++i) join(start(nothing, NULL));
  pthread_t two = start(body, NULL);
  if (RACY) join(one);
  join(two);
  return 0;
}
