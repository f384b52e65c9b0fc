// A table is published by a pointer; the racy one is filled when it can be seen.
#include "twin.h"

struct Table {
  int values[8];
};
static struct Table* inner;

static void* publish(void* unused) {
  struct Table* made = calloc(1, sizeof *made);
  if (!made) abort();
  if (RACY) __atomic_store_n(&inner, made, __ATOMIC_RELEASE);
  for (int i = 0; i < 8; ++i) made->values[i] = i;  // RACE
  if (!RACY) __atomic_store_n(&inner, made, __ATOMIC_RELEASE);
  return unused;
}

static void* look(void* unused) {
  struct Table* table;
  while (!(table = __atomic_load_n(&inner, __ATOMIC_ACQUIRE))) sched_yield();
  use(table->values[5]);  // RACE
  return unused;
}

int main(void) {
  run_two(publish, look);
  free(inner);
  return 0;
}
