// Two threads count with a plain ++ that the optimizer may turn into a single addition: it races all the same.
#include "program.h"

long hits;
static void* body(void* unused) {
  for (int i = 0; i < 500; ++i) {
    ++hits;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return hits > 0 ? 0 : 1;
}
