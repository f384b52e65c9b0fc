// Two ends of a queue: the place is drawn under the lock, the element written after it.
#include "planted.h"

static int elements[8], count, taken;

static void put(int value) {
  lock();
  const int at = count++;
  BUG(unlock();)
  __atomic_store_n(&elements[at], value, __ATOMIC_RELAXED);
  FIX(unlock();)
}

static void* produce(void* unused) {
  for (int i = 1; i <= 4; i++) put(i);
  return unused;
}

static void* consume(void* unused) {
  int last = 0;
  for (int i = 0; i < 4; i++) {
    lock();
    const int at = taken < count ? taken++ : -1;
    unlock();
    if (at < 0) continue;
    const int value = __atomic_load_n(&elements[at], __ATOMIC_RELAXED);
    REQUIRE(value == last + 1);
    last = value;
  }
  return unused;
}

int main(void) {
  RUN(produce, consume);
  return 0;
}
