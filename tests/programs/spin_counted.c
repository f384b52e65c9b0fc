// Loops that wait for a flag and count how often they have looked, as runtimes of OpenMP have them:
// with a limit of minutes, under which the flag comes; with one of milliseconds, after which the
// task sleeps; with pauses of growing length between two looks; and with no limit at all.
#include "program.h"

enum { kRounds = 6, kShort = 300000 };

static const long kLong = 30000000000;
static _Alignas(64) int asked;
static _Alignas(64) int answered;
static _Alignas(64) int never;
static long given_up;

static void pause_once(void) { __builtin_ia32_pause(); }

// 1: the word has the value. 0: it has been looked at `rounds` times.
static int wait_for(const int* word, int value, long rounds) {
  for (long i = 0; i < rounds; i++) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) return 1;
    pause_once();
  }
  return 0;
}

static void wait_longer_and_longer(const int* word, int value) {
  for (int pauses = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;) {
    for (int i = 0; i < pauses; i++) pause_once();
    if (pauses < 512) pauses += pauses;
  }
}

static unsigned long count_until(const int* word, int value) {
  unsigned long rounds = 1;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) rounds++;
  return rounds;
}

static void* serve(void* unused) {
  for (int i = 1; i <= kRounds; i++) {
    if (i % 3 == 0) wait_longer_and_longer(&asked, i);
    else if (i % 3 == 1) CHECK_EQ(wait_for(&asked, i, kLong), 1);
    else CHECK_EQ(count_until(&asked, i) != 0, 1);
    __atomic_store_n(&answered, i, __ATOMIC_RELEASE);
  }
  for (int i = 0; i < 4; i++) given_up += !wait_for(&never, 1, kShort);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, serve, NULL), 0);
  for (int i = 1; i <= kRounds; i++) {
    __atomic_store_n(&asked, i, __ATOMIC_RELEASE);
    CHECK_EQ(wait_for(&answered, i, kLong), 1);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("answered %d, given up %ld\n", answered, given_up);
  return 0;
}
