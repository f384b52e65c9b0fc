// strncpy fills up the field; another thread reads what lies behind.
#include "program.h"

struct {
  char field[24];
  char behind[8];
} record;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    strncpy(record.field, "abc", sizeof record.field);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(record.behind[0]);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
