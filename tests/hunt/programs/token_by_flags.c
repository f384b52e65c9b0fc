// A token goes round four threads by a word that each polls. One stage passes on before it has
// noted its own part.
#include "planted.h"

enum { kAll = 4 };
static int turn, noted[kAll];

static void* stage(void* number) {
  const int me = (int)(long)number;
  while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != me) usleep(10);
  for (int i = 0; i < me; i++) REQUIRE(__atomic_load_n(&noted[i], __ATOMIC_SEQ_CST));
  BUG(if (me == 2) __atomic_store_n(&turn, me + 1, __ATOMIC_SEQ_CST);)
  __atomic_store_n(&noted[me], 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&turn, me + 1, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  run_many(kAll, stage, 0, NULL);
  return 0;
}
