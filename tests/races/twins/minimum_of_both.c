// The smaller of a shared and an own value: the clean thread asks only if it may.
#include "twin.h"

static int bound = 90, is_shared = RACY, results[2];

static void* body(void* number) {
  int least = 100;
  for (int i = 0; i < 20; ++i) {
    int candidate = 95 - i;
    if (is_shared && bound < candidate) candidate = bound;  // RACE
    if (candidate < least) least = candidate;
  }
  results[(long)number] = least;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0);
  bound = 80;  // RACE
  join(one);
  use(results[0]);
  return 0;
}
