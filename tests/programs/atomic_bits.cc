// Bits set by bts, btr and btc with a lock prefix, also past the first word, and claims of bits in
// a shared bitmap.
#include "program.h"

#include <atomic>
#include <thread>
#include <vector>

static uint64_t words[4];
static std::atomic<uint64_t> bitmap[8];

static bool test_and_set(uint64_t* base, long bit) {
  bool was;
  __asm__ volatile("lock btsq %2, %1"
                   : "=@ccc"(was), "+m"(*(uint64_t(*)[4])base)
                   : "r"(bit)
                   : "memory");
  return was;
}

static bool test_and_flip(uint64_t* base, long bit) {
  bool was;
  __asm__ volatile("lock btcq %2, %1"
                   : "=@ccc"(was), "+m"(*(uint64_t(*)[4])base)
                   : "r"(bit)
                   : "memory");
  return was;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::vector<std::vector<int>> claimed(threads);
  std::vector<std::thread> running;
  std::atomic<int> won{0};
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (long bit = 0; bit < 128; bit += 2) won += !test_and_set(words, bit);
      for (long bit = 128; bit < 192; bit += 5) test_and_flip(words, bit);
      for (int bit = i; bit < 512; ++bit) {
        uint64_t mask = 1ull << (bit % 64);
        if (bit % 4 == 0 && !(bitmap[bit / 64].fetch_or(mask) & mask)) claimed[i].push_back(bit);
      }
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(won, 64);
  CHECK_EQ(words[0], 0x5555555555555555);
  CHECK_EQ(words[1], 0x5555555555555555);
  CHECK_EQ(words[2] != 0, threads % 2);
  CHECK_EQ(words[3], 0);
  std::vector<int> owners(512);
  for (auto& bits : claimed) {
    for (int bit : bits) ++owners[bit];
  }
  for (int bit = 0; bit < 512; bit += 4) CHECK_EQ(owners[bit], 1);
  std::printf("won %d\n", won.load());
}
