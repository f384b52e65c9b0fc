// Atomic floating point sums, by compare-exchange and by fetch_add, are complete; atomic_ref works
// on plain ones.
#include "program.h"

#include <atomic>
#include <thread>
#include <vector>

struct Pair {
  float x, y;
};

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  constexpr int kRounds = 60;
  std::atomic<double> looped{0}, added{0};
  std::atomic<Pair> pair{Pair{0, 0}};
  static_assert(std::atomic<Pair>::is_always_lock_free);
  long plain = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (int k = 0; k < kRounds; ++k) {
        for (double old = looped; !looped.compare_exchange_weak(old, old + 0.5);) {}
        added.fetch_add(0.25 * (i + 1));
        Pair old = pair.load();
        while (!pair.compare_exchange_strong(old, Pair{old.x + 1, old.y - 1}))
          CHECK(old.x == -old.y);
        std::atomic_ref<long>(plain).fetch_add(2);
      }
    });
  }
  for (auto& thread : running) thread.join();
  CHECK(looped.load() == 0.5 * kRounds * threads);
  CHECK(added.load() == 0.25 * kRounds * threads * (threads + 1) / 2);
  CHECK(pair.load().x == kRounds * threads && pair.load().y == -kRounds * threads);
  CHECK_EQ(plain, 2 * kRounds * threads);
  std::printf("sums %.2f %.2f\n", looped.load(), added.load());
}
