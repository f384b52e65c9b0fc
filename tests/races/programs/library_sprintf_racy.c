// Two threads format into one static line.
#include "program.h"

char line[64];
static void* body(void* unused) {
  for (int i = 0; i < 30; ++i) use(snprintf(line, sizeof line, "line number %d", i));  // RACE
  use(line[3]);                                                                        // RACE
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
