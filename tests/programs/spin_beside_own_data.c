// A thread spins on a flag while another one writes to its thread-local data: what looks at the
// spin must not touch those for it.
#include "program.h"

enum { kRounds = 20, kAdditions = 2000000 };

static __thread volatile long mine;
static volatile long* volatile theirs;
static struct { _Alignas(4096) volatile int flag; } go, done;

static void* spins(void* unused) {
  (void)unused;
  theirs = &mine;
  for (int round = 1; round <= kRounds; ++round) {
    while (go.flag < round) {}
    CHECK_EQ(mine, (long)round * kAdditions);
    done.flag = round;
  }
  return NULL;
}

static void* writes(void* unused) {
  (void)unused;
  while (!theirs) {}
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kAdditions; ++i) ++*theirs;
    go.flag = round;
    while (done.flag < round) {}
  }
  return NULL;
}

int main(void) {
  pthread_t ids[2];
  CHECK_EQ(pthread_create(&ids[0], NULL, spins, NULL), 0);
  CHECK_EQ(pthread_create(&ids[1], NULL, writes, NULL), 0);
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  puts("all additions seen");
  return 0;
}
