// A store that only happens if something was found; compilers may not make it unconditional.
#include "twin.h"

static int count, numbers[32];

static void* body(void* unused) {
  for (int i = 0; i < 32; ++i)
    if (numbers[i] > (RACY ? 20 : 40)) count = i;  // RACE
  return unused;
}

int main(void) {
  for (int i = 0; i < 32; ++i) numbers[i] = i;
  pthread_t one = start(body, NULL);
  count = 3;  // RACE
  join(one);
  use(count);
  return 0;
}
