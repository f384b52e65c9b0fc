// A local has the shared value only if the thread may look at it, and is used only then.
#include "twin.h"

static int table[4], may_look[2] = {RACY, 0}, results[2];

static void* body(void* number) {
  const long me = (long)number;
  int seen;
  if (may_look[me]) seen = table[3];  // RACE
  int sum = may_look[1 - me] + 1;
  for (int i = 0; i < 4; ++i) sum = sum * 3 + i;
  if (may_look[me]) sum += seen;
  results[me] = sum;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0);
  table[3] = 4;  // RACE
  join(one);
  use(results[0]);
  return 0;
}
