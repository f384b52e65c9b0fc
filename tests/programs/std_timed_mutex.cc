// std::timed_mutex, recursive mutexes, scoped_lock over several mutexes and std::lock without
// deadlock.
#include "program.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  std::timed_mutex timed;
  std::recursive_timed_mutex nested;
  timed.lock();
  nested.lock();
  CHECK(nested.try_lock_for(1ms));
  std::thread([&] {
    auto start = std::chrono::steady_clock::now();
    CHECK(!timed.try_lock());
    CHECK(!timed.try_lock_for(15ms));
    CHECK(std::chrono::steady_clock::now() - start >= 15ms);
    CHECK(!nested.try_lock_until(std::chrono::system_clock::now() + 10ms));
  }).join();
  timed.unlock();
  nested.unlock();
  nested.unlock();

  std::mutex forks[5];
  long meals[5] = {};
  std::vector<std::thread> philosophers;
  for (int i = 0; i < threads; ++i) {
    philosophers.emplace_back([&, i] {
      for (int k = 0; k < 60; ++k) {
        int left = (i + k) % 5, right = (left + 1) % 5;
        if (k % 2) {
          std::scoped_lock both(forks[left], forks[right]);
          ++meals[left];
        } else {
          std::unique_lock a(forks[right], std::defer_lock), b(forks[left], std::defer_lock);
          std::lock(a, b);
          ++meals[left];
        }
      }
    });
  }
  for (auto& thread : philosophers) thread.join();
  long total = meals[0] + meals[1] + meals[2] + meals[3] + meals[4];
  CHECK_EQ(total, threads * 60);
  std::printf("meals %ld\n", total);
}
