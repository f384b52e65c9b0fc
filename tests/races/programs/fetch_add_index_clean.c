// Indices are given out by fetch_add: every slot is written by one thread.
#include "program.h"

int next, slots[400];
static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    int index = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    slots[index] = i;
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
