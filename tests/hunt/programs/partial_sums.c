// Sixteen threads write a part each; the last to count itself adds them up, but counts itself
// before it has written.
#include "planted.h"

enum { kAll = 16 };
static int parts[kAll], done, total;

static void* add(void* number) {
  const long me = (long)number;
  FIX(__atomic_store_n(&parts[me], 1, __ATOMIC_SEQ_CST);)
  const int count = __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
  BUG(__atomic_store_n(&parts[me], 1, __ATOMIC_SEQ_CST);)
  if (count == kAll) {
    int sum = 0;
    for (int i = 0; i < kAll; i++) sum += __atomic_load_n(&parts[i], __ATOMIC_SEQ_CST);
    total = sum;
  }
  return NULL;
}

int main(void) {
  run_many(kAll, add, 0, NULL);
  REQUIRE(total == kAll);
  return 0;
}
