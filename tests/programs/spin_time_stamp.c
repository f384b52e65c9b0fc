// Loops that wait for a flag and give up by rdtsc: the flag comes, long before the time is over;
// and where no flag comes, the time is over.
#include "program.h"

enum { kRounds = 6 };
static int asked, answered, never;
static long given_up;

static uint64_t stamp(void) { return __builtin_ia32_rdtsc(); }

// 1: the word has the value. 0: the time was over first.
static int wait_for(const int* word, int value, uint64_t budget) {
  const uint64_t begin = stamp();
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    __asm__ volatile("nop\n\tnop\n\tnop");
    if (stamp() - begin > budget) return 0;
  }
  return 1;
}

static void* serve(void* unused) {
  for (int i = 1; i <= kRounds; i++) {
    CHECK_EQ(wait_for(&asked, i, UINT64_MAX / 2), 1);
    __atomic_store_n(&answered, i, __ATOMIC_RELEASE);
  }
  given_up += !wait_for(&never, 1, 2000000);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, serve, NULL), 0);
  for (int i = 1; i <= kRounds; i++) {
    __atomic_store_n(&asked, i, __ATOMIC_RELEASE);
    CHECK_EQ(wait_for(&answered, i, UINT64_MAX / 2), 1);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("answered %d, given up %ld\n", answered, given_up);
  return 0;
}
