// Home-made spin locks by exchange, by compare-and-swap and by bit-test-and-set lose no increment.
#include "program.h"

enum { kRounds = 100 };
static int by_exchange;
static unsigned by_compare, by_bit;
static long totals[3];

static void* body(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    while (__atomic_exchange_n(&by_exchange, 1, __ATOMIC_ACQUIRE)) {
      while (__atomic_load_n(&by_exchange, __ATOMIC_RELAXED)) __builtin_ia32_pause();
    }
    ++totals[0];
    __atomic_store_n(&by_exchange, 0, __ATOMIC_RELEASE);

    for (unsigned free_value = 0; !__atomic_compare_exchange_n(&by_compare, &free_value, 7, 1,
                                                               __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         free_value = 0) {
      sched_yield();
    }
    ++totals[1];
    __atomic_store_n(&by_compare, 0, __ATOMIC_RELEASE);

    while (__atomic_fetch_or(&by_bit, 1u << 9, __ATOMIC_ACQUIRE) & 1u << 9) sched_yield();
    ++totals[2];
    __atomic_fetch_and(&by_bit, ~(1u << 9), __ATOMIC_RELEASE);
  }
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  for (int i = 0; i < 3; ++i) CHECK_EQ(totals[i], threads * kRounds);
  printf("totals %ld\n", totals[0]);
  return 0;
}
