// A worker that has counted says so by an atomic flag; the racy reader does not wait for it.
#include "twin.h"

static long count;
static int is_done;

static void* work(void* unused) {
  for (int i = 0; i < 50; ++i) {
    count += i;  // RACE
    use(i);
  }
  __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
  return unused;
}

static void* wait_for(void* unused) {
  while (!RACY && !__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) sched_yield();
  if (count > 40) use(1);  // RACE
  return unused;
}

int main(void) {
  run_two(work, wait_for);
  return 0;
}
