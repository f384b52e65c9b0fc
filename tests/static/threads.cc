// Threads, locks, condition variables, atomics, an exception that crosses threads: linked
// statically.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
  std::mutex mutex;
  std::condition_variable filled;
  std::queue<int> queue;
  std::atomic<int> puts{0};
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; k++) {
        {
          std::lock_guard<std::mutex> lock(mutex);
          queue.push(i * k);
        }
        filled.notify_one();
        puts++;
      }
    });
  }
  threads.emplace_back([&] {
    for (int k = 0; k < 800; k++) {
      std::unique_lock<std::mutex> lock(mutex);
      filled.wait(lock, [&] { return !queue.empty(); });
      sum += queue.front();
      queue.pop();
    }
  });
  for (auto& thread : threads) thread.join();
  auto failing = std::async(std::launch::async, [] {
    throw std::runtime_error("thrown");
    return 1;
  });
  try {
    failing.get();
  } catch (const std::exception& error) { printf("%s\n", error.what()); }
  printf("%ld %d\n", sum, puts.load());
  return 0;
}
