// A writer swaps a table and waits until the count of readers was 0; a reader that has read the
// pointer and not counted itself yet is not waited for.
#include "planted.h"

struct table {
  int value;
};
static struct table tables[2] = {{1}, {2}};
static struct table* current = &tables[0];
static int readers;

static void* reader(void* unused) {
  FIX(__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);)
  struct table* mine = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
  BUG(__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);)
  REQUIRE(__atomic_load_n(&mine->value, __ATOMIC_SEQ_CST) != 0);
  __atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static void* writer(void* unused) {
  struct table* old = __atomic_exchange_n(&current, &tables[1], __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&readers, __ATOMIC_SEQ_CST)) usleep(100);
  __atomic_store_n(&old->value, 0, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(reader, writer);
  return 0;
}
