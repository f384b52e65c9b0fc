// A result has a value only if it may look; clang loads it either way, and a copy of nothing is right.
#include "twin.h"

struct result {
  int has_value, value;
};
int shared = 5, may_look[2] = {RACY, 0};
static struct result results[2];

static void* body(void* number) {
  const long me = (long)number;
  struct result result;
  result.has_value = may_look[me];
  if (may_look[me])
    result.value = shared;  // RACE
  results[me] = result;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0);
  shared = 7;  // RACE
  join(one);
  use(results[0].has_value);
  return 0;
}
