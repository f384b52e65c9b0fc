// A thread that a static initializer makes reads a variable whose initializer runs later.
#include "twin.h"

int limit_of_later(int value) { return value + 1; }
extern int limit;
extern pthread_t thread;

static void* body(void* unused) {
  pause_ms(5);
  use(limit);  // RACE
  return unused;
}

#if RACY
pthread_t thread = start(body, nullptr);
int limit = limit_of_later(7);  // RACE
#else
int limit = limit_of_later(7);
pthread_t thread = start(body, nullptr);
#endif

int main() {
  join(thread);
  return 0;
}
