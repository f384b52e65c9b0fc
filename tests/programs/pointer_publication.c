// Readers follow a published pointer to complete versions only, and the writer frees the old ones
// after a grace period.
#include "program.h"

enum { kVersions = 40, kWords = 32 };
struct Version {
  long number;
  long words[kWords];
};
static struct Version* current;
static long reading[kMaxThreads];  // The epoch that a reader is in, 0 for none.
static long epoch = 1;
static int threads, done;

static struct Version* make(long number) {
  struct Version* version = (struct Version*)malloc(sizeof *version);
  version->number = number;
  for (int i = 0; i < kWords; ++i) version->words[i] = number * i;
  return version;
}

static void* reader(void* number) {
  long last = 0;
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&reading[(long)number], __atomic_load_n(&epoch, __ATOMIC_SEQ_CST),
                     __ATOMIC_SEQ_CST);
    struct Version* version = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
    CHECK(version->number >= last);
    last = version->number;
    for (int i = 0; i < kWords; ++i) CHECK_EQ(version->words[i], last * i);
    __atomic_store_n(&reading[(long)number], 0, __ATOMIC_SEQ_CST);
    sched_yield();
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t ids[kMaxThreads];
  threads = argument(argc, argv, 1, 4);
  current = make(0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, reader, (void*)i), 0);
  for (long number = 1; number <= kVersions; ++number) {
    struct Version* old = __atomic_exchange_n(&current, make(number), __ATOMIC_SEQ_CST);
    long now = __atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < threads; ++i) {
      for (long in; (in = __atomic_load_n(&reading[i], __ATOMIC_SEQ_CST)) != 0 && in < now;)
        sched_yield();
    }
    memset(old, 0xee, sizeof *old);
    free(old);
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK_EQ(current->number, kVersions);
  free(current);
  printf("versions %d\n", kVersions);
  return 0;
}
