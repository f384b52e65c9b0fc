// std::latch holds all until its count; std::barrier runs its completion once a phase and lets
// threads drop out.
#include "program.h"

#include <barrier>
#include <latch>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  constexpr int kPhases = 30;
  std::latch ready(threads), go(1);
  int phases = 0;
  std::vector<long> work(threads), sums;
  auto on_phase = [&]() noexcept {
    long sum = 0;
    for (long value : work) sum += value;
    sums.push_back(sum);
    ++phases;
  };
  std::barrier barrier(threads, on_phase);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      ready.count_down();
      go.wait();
      for (int phase = 0; phase < kPhases; ++phase) {
        work[i] = (phase + 1) * (i + 1);
        if (i == 0 && threads > 1 && phase == kPhases / 2) {
          barrier.arrive_and_drop();
          return;
        }
        barrier.arrive_and_wait();
        CHECK(phases > phase);
      }
    });
  }
  ready.wait();
  CHECK(ready.try_wait());
  go.count_down();
  for (auto& thread : running) thread.join();
  CHECK_EQ(phases, kPhases);
  CHECK_EQ(sums[0], threads * (threads + 1) / 2);
  std::printf("phases %d\n", phases);
}
