// Readers of a sequence lock retry until they have an unbroken copy; they never see half of an
// update.
#include "program.h"

enum { kUpdates = 60, kFields = 16 };
static unsigned sequence;
static long fields[kFields];
static int done;

static void* writer(void* unused) {
  for (long i = 1; i <= kUpdates; ++i) {
    __atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int k = 0; k < kFields; ++k) __atomic_store_n(&fields[k], i * (k + 1), __ATOMIC_RELAXED);
    __atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELEASE);
    if (i % 8 == 0) sched_yield();
  }
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static void* reader(void* unused) {
  long last = 0;
  for (int finished = 0; !finished;) {
    long copy[kFields];
    unsigned before, after;
    finished = __atomic_load_n(&done, __ATOMIC_SEQ_CST);
    do {
      while ((before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE)) % 2) sched_yield();
      for (int k = 0; k < kFields; ++k) copy[k] = __atomic_load_n(&fields[k], __ATOMIC_RELAXED);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      after = __atomic_load_n(&sequence, __ATOMIC_RELAXED);
    } while (before != after);
    for (int k = 0; k < kFields; ++k) CHECK_EQ(copy[k], copy[0] * (k + 1));
    CHECK(copy[0] >= last);
    last = copy[0];
    sched_yield();
  }
  CHECK_EQ(last, kUpdates);
  return unused;
}

static void* body(void* number) { return (long)number == 0 ? writer(NULL) : reader(NULL); }

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  printf("updates %d\n", kUpdates);
  return 0;
}
