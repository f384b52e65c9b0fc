// Atomic operations of 1, 2, 4, 8 and 16 bytes, every kind of them, on neighbours in the same words
// lose nothing.
#include "program.h"

enum { kRounds = 50 };
static struct {
  uint8_t byte, other_byte;
  uint16_t half;
  uint32_t word;
  uint64_t quad;
  int64_t down;
} shared;
static unsigned __int128 wide __attribute__((aligned(16)));
static uint64_t bits[4], exchanged_sum, toggled;

__attribute__((target("cx16"))) static void* body(void* number) {
  long me = (long)number;
  uint64_t exchanged = 0;
  for (int i = 0; i < kRounds; ++i) {
    __atomic_fetch_add(&shared.byte, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&shared.other_byte, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&shared.half, 3, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&shared.word, 70000, __ATOMIC_RELEASE);
    __atomic_fetch_add(&shared.quad, 5000000000u, __ATOMIC_ACQUIRE);
    __atomic_sub_fetch(&shared.down, 2, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&bits[i % 4], 1ull << (me % 64), __ATOMIC_RELAXED);
    __atomic_fetch_xor(&toggled, 1ull << (i % 64), __ATOMIC_RELAXED);
    exchanged += __atomic_exchange_n(&bits[3], 0, __ATOMIC_RELAXED) != 0;
    const unsigned __int128 one_each = ((unsigned __int128)1 << 64) + 1;
    for (unsigned __int128 old = 0, seen;
         (seen = __sync_val_compare_and_swap(&wide, old, old + one_each)) != old;) {
      old = seen;
    }
  }
  __atomic_fetch_add(&exchanged_sum, exchanged, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  long n = (long)threads * kRounds;
  run_threads(threads, body);
  CHECK_EQ(shared.byte, n % 256);
  CHECK_EQ(shared.other_byte, (uint8_t)-n);
  CHECK_EQ(shared.half, 3 * n % 65536);
  CHECK_EQ(shared.word, (uint32_t)(70000 * n));
  CHECK_EQ(shared.quad, 5000000000 * n);
  CHECK_EQ(shared.down, -2 * n);
  CHECK_EQ((uint64_t)(wide >> 64), n);
  CHECK_EQ((uint64_t)wide, n);
  for (int i = 0; i < 3; ++i) CHECK_EQ(bits[i], threads == 64 ? -1ll : (1ll << threads) - 1);
  CHECK(exchanged_sum > 0);
  CHECK_EQ(toggled, threads % 2 ? (1ull << kRounds) - 1 : 0);
  printf("operations %ld\n", n);
  return 0;
}
