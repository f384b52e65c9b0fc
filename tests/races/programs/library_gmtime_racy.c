// gmtime_r writes what another thread reads.
#include "program.h"

#include <time.h>

struct tm parts;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    const time_t now = i;
    gmtime_r(&now, &parts);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(parts.tm_sec);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
