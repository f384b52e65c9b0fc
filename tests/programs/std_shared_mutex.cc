// std::shared_mutex and shared_timed_mutex: readers together, writers alone, timed tries give up.
#include "program.h"

#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::shared_mutex lock;
  std::map<int, std::string> table;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        if (k % 4 == 0) {
          std::unique_lock guard(lock);
          table[i * 1000 + k] = std::to_string(i * 1000 + k);
        } else {
          std::shared_lock guard(lock);
          CHECK(table.at(i * 1000 + k / 4 * 4) == std::to_string(i * 1000 + k / 4 * 4));
        }
      }
    });
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(table.size(), threads * 25);

  std::shared_timed_mutex timed;
  timed.lock_shared();
  std::thread([&] {
    CHECK(timed.try_lock_shared_for(1ms));
    timed.unlock_shared();
    CHECK(!timed.try_lock_for(10ms));
    CHECK(!timed.try_lock_until(std::chrono::steady_clock::now() + 10ms));
  }).join();
  timed.unlock_shared();
  CHECK(timed.try_lock());
  std::printf("entries %zu\n", table.size());
}
