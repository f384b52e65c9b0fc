// A number of a table is given back and out again while a call that has looked it up still uses it.
#include "planted.h"

static int owner_of[1] = {1};

static void* call(void* unused) {
  FIX(lock();)
  const int mine = __atomic_load_n(&owner_of[0], __ATOMIC_SEQ_CST);
  if (mine == 1) REQUIRE(__atomic_load_n(&owner_of[0], __ATOMIC_SEQ_CST) != 2);
  FIX(unlock();)
  return unused;
}

static void* close_it(void* unused) {
  FIX(lock();)
  __atomic_store_n(&owner_of[0], 0, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

static void* open_it(void* unused) {
  FIX(lock();)
  int free = 0;
  __atomic_compare_exchange_n(&owner_of[0], &free, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(open_it, call, close_it);
  return 0;
}
