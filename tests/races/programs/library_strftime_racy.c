// strftime writes a text that another thread reads.
#include "program.h"

#include <string.h>
#include <time.h>

char date[32];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    struct tm time = {.tm_year = 100 + i, .tm_mday = 1};
    strftime(date, sizeof date, "%Y-%m-%d", &time);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use((long)strlen(date));  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
