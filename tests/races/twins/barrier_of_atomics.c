// A barrier that turns its sense each time; the racy program leaves one of two barriers out.
#include "twin.h"

enum { kThreads = 3 };
static int arrived, sense, cells[kThreads];

static void wait_all(int* own) {
  *own = !*own;
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == kThreads) {
    __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&sense, *own, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) != *own) sched_yield();
  }
}

static void* body(void* number) {
  const long me = (long)number;
  int own = 0;
  for (int i = 0; i < 5; ++i) {
    cells[me] = i;  // RACE
    wait_all(&own);
    use(cells[(me + 1) % kThreads]);  // RACE
    if (!RACY) wait_all(&own);
  }
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  return 0;
}
