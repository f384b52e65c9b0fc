// Readers count themselves in; the writer exchanges the object, waits until there is none, and
// frees the old one. A reader takes the pointer before it counts itself.
#include "planted.h"

static int* current;
static int readers;

static void* reader(void* unused) {
  FIX(__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);)
  int* const it = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
  BUG(__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);)
  REQUIRE(*it == 1);
  __atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static void* writer(void* unused) {
  int* const mine = malloc(sizeof *mine);
  *mine = 1;
  int* const old = __atomic_exchange_n(&current, mine, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&readers, __ATOMIC_SEQ_CST)) sched_yield();
  free(old);
  return unused;
}

int main(void) {
  current = malloc(sizeof *current);
  *current = 1;
  RUN(reader, writer, reader);
  return 0;
}
