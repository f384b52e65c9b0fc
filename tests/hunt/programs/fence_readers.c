// A lock whose readers have a flag each and write nothing that others write: a reader raises its
// flag and looks for a writer; the writer raises its own and looks at all readers.
#include "fence.h"

enum { kReaders = 2 };
static int reading[kReaders], writing, a, b;

static void* read_both(void* argument) {
  const long me = (long)argument;
  STORE(reading[me], 1);
  FENCE();
  if (!LOAD(writing)) {
    const int one = LOAD(a), two = LOAD(b);
    REQUIRE(one == two);
  }
  STORE(reading[me], 0);
  return NULL;
}

static void* write_both(void* unused) {
  STORE(writing, 1);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (int i = 0; i < kReaders; i++)
    while (LOAD(reading[i])) sched_yield();
  STORE(a, 1);
  STORE(b, 1);
  STORE(writing, 0);
  return unused;
}

int main(void) {
  RUN(read_both, read_both, write_both);
  return 0;
}
