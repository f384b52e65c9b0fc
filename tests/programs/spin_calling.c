// A loop that waits for a flag, counts on its stack how often it has looked, and looks in a
// function that it calls: no two rounds are the same, and the function's own registers and words
// are the same in all of them. A replay has to tell them apart by what the caller counts, or takes
// for ever.
#include "program.h"

enum { kRounds = 4 };

static _Alignas(64) int flag;

__attribute__((noinline)) static int look(void) {
  __asm__ volatile("");
  return __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
}

__attribute__((noinline)) static int look_within(const int* word) {
  const int* volatile kept = word;
  return look() + (kept != word);
}

static void* set(void* value) {
  usleep(20000);
  __atomic_store_n(&flag, (int)(long)value, __ATOMIC_RELEASE);
  return NULL;
}

int main(void) {
  for (long i = 1; i <= kRounds; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, set, (void*)i), 0);
    volatile unsigned long rounds = 0;
    if (i % 2)
      while (look() != i) rounds++;
    else
      while (look_within(&flag) != i) rounds++;
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  printf("seen %d\n", flag);
  return 0;
}
