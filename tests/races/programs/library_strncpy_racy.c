// strncpy fills up the field, of which another thread reads the end.
#include "program.h"

struct {
  char field[24];
  char behind[8];
} record;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    strncpy(record.field, "abc", sizeof record.field);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(record.field[23]);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
