// A thread gives its reference back, and counts its last use after that, or before.
#include <stdatomic.h>

#include "twin.h"

static struct {
  atomic_int references;
  int uses[2];
} object;

static void release(void) {
  if (atomic_fetch_sub_explicit(&object.references, 1, memory_order_acq_rel) == 1)
    use(object.uses[0] + object.uses[1]);  // RACE
}

static void* body(void* number) {
  const long me = (long)number;
  if (RACY) release();
  if (RACY) pause_ms(me * 10);
  object.uses[me]++;  // RACE
  if (!RACY) release();
  return NULL;
}

int main(void) {
  atomic_store(&object.references, 2);
  run_threads(2, body);
  return 0;
}
