// Two threads never run at the same time: the second is made when the first has long ended.
#include "twin.h"

int value;

static void* body(void* unused) {
  value = 3;  // RACE
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL);
  pause_ms(30);
  if (!RACY) join(one);
  pthread_t two = start(body, NULL);
  if (RACY) join(one);
  join(two);
  return value == 3 ? 0 : 1;
}
