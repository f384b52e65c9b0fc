// std::call_once runs one callable; one that throws leaves the call to the next thread; local
// statics are built once.
#include "program.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> built{0};

struct Built {
  Built() {
    sleep_ms(3);
    ++built;
    value = 31;
  }
  int value = 0;
};

static Built& local_static() {
  static Built instance;
  return instance;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::once_flag plain, throwing;
  int runs = 0, tries = 0;
  std::atomic<int> caught{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      std::call_once(plain, [&] { ++runs; });
      CHECK_EQ(runs, 1);
      try {
        std::call_once(throwing, [&] {
          if (++tries < 3) throw std::runtime_error("not yet");
        });
      } catch (const std::runtime_error&) { ++caught; }
      CHECK_EQ(local_static().value, 31);
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(tries, threads < 3 ? threads : 3);
  CHECK_EQ(caught, threads < 3 ? threads : 2);
  CHECK_EQ(built, 1);
  std::printf("tries %d built %d\n", tries, built.load());
}
