// Two threads count with the __atomic builtin on a plain long; main reads after both were joined.
#include "program.h"

long hits;
static void* body(void* unused) {
  for (int i = 0; i < 500; ++i) {
    __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return hits > 0 ? 0 : 1;
}
