// A machine's state and the time of its last change are two words; a watcher takes them apart.
#include "planted.h"

static int state, since;

static void* machine(void* unused) {
  for (int i = 1; i <= 3; i++) {
    FIX(lock();)
    __atomic_store_n(&state, i, __ATOMIC_SEQ_CST);
    __atomic_store_n(&since, i, __ATOMIC_SEQ_CST);
    FIX(unlock();)
  }
  return unused;
}

static void* watcher(void* unused) {
  FIX(lock();)
  const int one = __atomic_load_n(&since, __ATOMIC_SEQ_CST);
  const int two = __atomic_load_n(&state, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  REQUIRE(two - one < 2);
  return unused;
}

int main(void) {
  RUN(machine, watcher);
  return 0;
}
