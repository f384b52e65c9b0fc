// A ticket lock whose `serving` is advanced before the holder has finished.
#include "program.h"

unsigned next, serving;
long value;
static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    unsigned ticket = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != ticket) sched_yield();
    __atomic_store_n(&serving, ticket + 1, __ATOMIC_RELEASE);
    value += i;  // RACE
    use(i);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return value == 0;
}
