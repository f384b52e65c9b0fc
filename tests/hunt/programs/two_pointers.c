// Table and size are published one after the other, the size first.
#include "planted.h"

static int small[2] = {1, 1}, large[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static int* table = small;
static int size = 2;

static void* grow(void* unused) {
  FIX(lock();)
  __atomic_store_n(&size, 8, __ATOMIC_SEQ_CST);
  __atomic_store_n(&table, large, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

static void* look(void* unused) {
  FIX(lock();)
  const int count = __atomic_load_n(&size, __ATOMIC_SEQ_CST);
  int* const entries = __atomic_load_n(&table, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  REQUIRE(count == 2 || entries == large);
  return unused;
}

int main(void) {
  RUN(grow, look, look);
  return 0;
}
