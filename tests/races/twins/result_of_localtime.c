// A thread reads the structure that the C library has for all; the clean one has its own.
#include "twin.h"

static void* body(void* number) {
  const time_t when = 1000000 * (1 + (long)number);
  struct tm own;
  for (int i = 0; i < 3; ++i) {
    struct tm* time = RACY ? localtime(&when) : localtime_r(&when, &own);  // RACE
    pause_ms(1);
    time->tm_year += 1;  // RACE
    use(time->tm_year);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
