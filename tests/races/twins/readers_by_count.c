// A read-write lock of one word: readers count up, the writer takes it at 0. One reader does not count.
#include "twin.h"

static int word, table[8];

static void* reader(void* unused) {
  for (int i = 0; i < 10; ++i) {
    int was = __atomic_load_n(&word, __ATOMIC_RELAXED);
    do {
      while (was < 0) {
        sched_yield();
        was = __atomic_load_n(&word, __ATOMIC_RELAXED);
      }
    } while (!__atomic_compare_exchange_n(&word, &was, was + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    use(table[3]);
    __atomic_fetch_sub(&word, 1, __ATOMIC_RELEASE);
    if (RACY) use(table[3]);  // RACE
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 10; ++i) {
    int was = 0;
    while (!__atomic_compare_exchange_n(&word, &was, -1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      was = 0;
      sched_yield();
    }
    table[3] += 1;  // RACE
    __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
