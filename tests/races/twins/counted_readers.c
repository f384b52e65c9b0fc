// A read-write lock of two words: readers count themselves in and out and look at the writer's word
// only; the writer waits until no reader is counted. The racy writer writes without it.
#include "twin.h"

static int readers, is_writing;
int table[4];

static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 20; ++i) {
    for (;;) {
      __atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
      if (!__atomic_load_n(&is_writing, __ATOMIC_SEQ_CST)) break;
      __atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
      sched_yield();
    }
    sum += table[i % 4];  // RACE
    __atomic_sub_fetch(&readers, 1, __ATOMIC_RELEASE);
    if (i % 5 == 0) pause_ms(1);
  }
  use(sum);
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 20; ++i) {
    if (!RACY) __atomic_store_n(&is_writing, 1, __ATOMIC_SEQ_CST);
    while (!RACY && __atomic_load_n(&readers, __ATOMIC_ACQUIRE)) sched_yield();
    table[i % 4] += i;  // RACE
    if (!RACY) __atomic_store_n(&is_writing, 0, __ATOMIC_SEQ_CST);
    if (i % 5 == 0) pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
