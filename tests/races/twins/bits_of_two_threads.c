// Bit fields of one unit belong to two threads; the clean ones are apart.
#include "twin.h"

static struct {
  unsigned first : 3;
#if !RACY
  unsigned : 0;
#endif
  unsigned second : 5;
} flags;

static void* body(void* number) {
  if ((long)number == 0) flags.first = 5;  // RACE
  else flags.second = 17;                  // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(flags.first + flags.second);
  return 0;
}
