// A function looks at a limit only if it has to. It has to.
#include "program.h"

int limit;

__attribute__((noinline)) static int pick(long wanted) {
  if (wanted) return limit;  // RACE
  return 0;
}

static void* reader(void* wanted) {
  pause_ms(20);
  use(pick((long)wanted));
  return NULL;
}

int main(void) {
  pthread_t thread = start(reader, (void*)1L);
  limit = 1;  // RACE
  join(thread);
  return 0;
}
