// Loops that wait for a flag and keep their counters in memory, on the stack, as code has it that
// was compiled without optimization: with one counter and two, with a limit of minutes, under which
// the flag comes, with one of milliseconds, after which the task gives up, with pauses that double,
// and with no limit.
#include "program.h"

#ifdef __clang__
#define AS_WRITTEN __attribute__((noinline, optnone))
#else
#define AS_WRITTEN __attribute__((noinline, optimize("O0")))
#endif

enum { kRounds = 10, kShort = 300000 };

static const long kLong = 30000000000;
static _Alignas(64) int asked;
static _Alignas(64) int answered;
static _Alignas(64) int never;
static long given_up;

// 1: the word has the value. 0: it has been looked at `rounds` times.
static AS_WRITTEN int wait_for(const int* word, int value, long rounds) {
  for (long i = 0; i < rounds; i++) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) return 1;
    __builtin_ia32_pause();
  }
  return 0;
}

static AS_WRITTEN int wait_down(const int* word, int value, long rounds) {
  long left = rounds, done = 0;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    if (--left == 0) return 0;
    done += 2;
  }
  return done >= 0;
}

static AS_WRITTEN void wait_longer_and_longer(const int* word, int value) {
  int pauses = 1;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    for (int i = 0; i < pauses; i++) __builtin_ia32_pause();
    if (pauses < 512) pauses *= 2;
  }
}

static AS_WRITTEN int count_until(const int* word, int value) {
  unsigned long rounds = 1;
  unsigned down = 0;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    rounds++;
    down--;
  }
  return rounds != 0;
}

static AS_WRITTEN void pause_between(const int* word, int value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
    for (int i = 0; i < 1000; i++) __builtin_ia32_pause();
}

static void wait_somehow(const int* word, int value) {
  switch (value % 5) {
    case 0: CHECK_EQ(wait_for(word, value, kLong), 1); break;
    case 1: CHECK_EQ(wait_down(word, value, kLong), 1); break;
    case 2: wait_longer_and_longer(word, value); break;
    case 3: CHECK_EQ(count_until(word, value), 1); break;
    default: pause_between(word, value);
  }
}

static void* serve(void* unused) {
  for (int i = 1; i <= kRounds; i++) {
    wait_somehow(&asked, i);
    __atomic_store_n(&answered, i, __ATOMIC_RELEASE);
  }
  for (int i = 0; i < 4; i++) given_up += !wait_for(&never, 1, kShort);
  given_up += !wait_down(&never, 1, kShort);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, serve, NULL), 0);
  for (int i = 1; i <= kRounds; i++) {
    __atomic_store_n(&asked, i, __ATOMIC_RELEASE);
    wait_somehow(&answered, i);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("answered %d, given up %ld\n", answered, given_up);
  return 0;
}
