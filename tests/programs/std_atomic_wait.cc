// std::atomic wait and notify of several sizes hand turns round a ring of threads, by raw futexes
// below.
#include "program.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

template <class T>
static long ring(int threads, int rounds) {
  std::atomic<T> turn{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (int k = 0; k < rounds; ++k) {
        T mine = static_cast<T>(k * threads + i);
        for (T now = turn; now != mine; now = turn) turn.wait(now);
        turn = static_cast<T>(mine + 1);
        turn.notify_all();
      }
    });
  }
  for (auto& thread : running) thread.join();
  return static_cast<long>(turn.load());
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(ring<int>(threads, 25), threads * 25);
  CHECK_EQ(ring<uint8_t>(threads, 10), threads * 10 % 256);
  CHECK_EQ(ring<long>(threads, 25), threads * 25);

  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  std::thread setter([&] {
    flag.test_and_set();
    flag.notify_one();
  });
  flag.wait(false);
  setter.join();
  CHECK(flag.test());
  std::printf("turns %d\n", threads * 25);
}
