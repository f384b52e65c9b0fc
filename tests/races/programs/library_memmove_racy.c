// memmove shifts a table in which another thread changes an entry.
#include "program.h"

int table[32];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    memmove(table, table + 1, sizeof table - sizeof *table);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    table[7] = i;  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
