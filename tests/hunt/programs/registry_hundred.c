// A hundred threads enter and leave a registry. The place of one that leaves is free before its
// entry is cleared.
#include "planted.h"

enum { kAll = 100 };
static int owner[kAll], count, is_wrong;

static void* visit(void* number) {
  const int me = 1 + (int)(long)number;
  lock();
  const int at = count++;
  BUG(unlock();)
  __atomic_store_n(&owner[at], me, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&owner[at], __ATOMIC_SEQ_CST) != me)
    __atomic_store_n(&is_wrong, 1, __ATOMIC_SEQ_CST);
  FIX(__atomic_store_n(&owner[at], 0, __ATOMIC_SEQ_CST);)
  BUG(lock();)
  count--;
  unlock();
  BUG(__atomic_store_n(&owner[at], 0, __ATOMIC_SEQ_CST);)
  return NULL;
}

int main(void) {
  run_many(kAll, visit, 0, NULL);
  REQUIRE(!is_wrong);
  return 0;
}
