// std::counting_semaphore lets at most its count inside; binary ones hand a turn to and fro; timed
// acquires give up.
#include "program.h"

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::counting_semaphore<8> slots(2);
  std::atomic<int> inside{0}, most{0}, passes{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int k = 0; k < 25; ++k) {
        // Not acquire(): with several takers that of libstdc++ 12 can sleep for ever, also natively
        // (its bug 104928): it reads the count, fails to take one, and then sleeps as long as the
        // count is what it was, be it more than 0; a release wakes nobody unless the count was 0.
        // With one taker, as below, this cannot be.
        while (!slots.try_acquire_for(100ms)) {}
        int now = ++inside;
        CHECK(now <= 2);
        for (int old = most; old < now && !most.compare_exchange_weak(old, now);) {}
        ++passes;
        --inside;
        slots.release();
      }
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(passes, threads * 25);
  CHECK(most >= 1 && most <= 2);

  std::binary_semaphore ping(0), pong(0);
  long value = 0;
  std::thread other([&] {
    for (int k = 0; k < 100; ++k) {
      ping.acquire();
      ++value;
      pong.release();
    }
  });
  for (int k = 0; k < 100; ++k) {
    CHECK_EQ(value, k);
    ping.release();
    pong.acquire();
  }
  other.join();
  CHECK(!ping.try_acquire());
  CHECK(!ping.try_acquire_for(10ms));
  std::printf("passes %d value %ld\n", passes.load(), value);
}
