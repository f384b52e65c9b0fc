// Two threads format into a line of their own.
#include "program.h"

static void* body(void* unused) {
  char line[64];
  for (int i = 0; i < 30; ++i) use(snprintf(line, sizeof line, "line number %d", i));
  use(line[3]);
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
