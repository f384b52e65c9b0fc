// A function looks at a limit only if it has to. It need not, though the compiler reads it in any case.
#include "program.h"

int limit;

__attribute__((noinline)) static int pick(long wanted) {
  if (wanted) return limit;
  return 0;
}

static void* reader(void* wanted) {
  pause_ms(20);
  use(pick((long)wanted));
  return NULL;
}

int main(void) {
  pthread_t thread = start(reader, (void*)0L);
  limit = 1;
  join(thread);
  return 0;
}
