// A __sync lock word is taken by one thread only; the other looks at the value without it.
#include "program.h"

int word, value;
static void* setter(void* unused) {
  for (int i = 0; i < 100; ++i) {
    while (__sync_lock_test_and_set(&word, 1)) sched_yield();
    value = i;  // RACE
    __sync_lock_release(&word);
  }
  return unused;
}

static void* getter(void* unused) {
  for (int i = 0; i < 100; ++i) {
    use(value);  // RACE
  }
  return unused;
}

int main(void) {
  run_two(setter, getter);
  return 0;
}
