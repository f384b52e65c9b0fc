// Both threads take the __sync lock word before they touch the value.
#include "program.h"

int word, value;
static void lock(void) {
  while (__sync_lock_test_and_set(&word, 1)) sched_yield();
}
static void unlock(void) { __sync_lock_release(&word); }
static void* setter(void* unused) {
  for (int i = 0; i < 100; ++i) {
    lock();
    value = i;
    unlock();
  }
  return unused;
}

static void* getter(void* unused) {
  for (int i = 0; i < 100; ++i) {
    lock();
    use(value);
    unlock();
  }
  return unused;
}

int main(void) {
  run_two(setter, getter);
  return 0;
}
