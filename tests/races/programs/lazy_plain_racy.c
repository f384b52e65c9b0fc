// Whoever comes first computes the value and keeps it in a plain variable; the value is the same, the accesses race.
#include "program.h"

long cached;
static void* body(void* unused) {
  for (int i = 0; i < 10; ++i) {
    if (cached == 0) cached = 6 * 7;  // RACE
    use(cached);                      // RACE
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
