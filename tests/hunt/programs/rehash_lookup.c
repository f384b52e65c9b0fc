// A table is moved to one of another size entry by entry; who looks an entry up meanwhile misses
// it.
#include "planted.h"

enum { kSmall = 2, kLarge = 4 };
static int small_table[kSmall] = {1, 2}, large_table[kLarge];
static int is_large;

static int find(int key) {
  int found = 0;
  FIX(lock();)
  const int large = __atomic_load_n(&is_large, __ATOMIC_SEQ_CST);
  for (int i = 0; i < (large ? kLarge : kSmall); i++)
    found |= __atomic_load_n(large ? &large_table[i] : &small_table[i], __ATOMIC_SEQ_CST) == key;
  FIX(unlock();)
  return found;
}

static void* grow(void* unused) {
  FIX(lock();)
  for (int i = 0; i < kSmall; i++) {
    __atomic_store_n(&large_table[2 * i], small_table[i], __ATOMIC_SEQ_CST);
    __atomic_store_n(&small_table[i], 0, __ATOMIC_SEQ_CST);
  }
  __atomic_store_n(&is_large, 1, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

static void* look(void* unused) {
  REQUIRE(find(2));
  return unused;
}

int main(void) {
  RUN(grow, look);
  return 0;
}
