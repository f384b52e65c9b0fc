// A pool of three threads; each task writes a result of its own, and main reads when all are done.
#include "program.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

std::mutex mutex;
std::condition_variable changed;
std::deque<std::function<void()>> tasks;
int left = 12, results[12];

static void work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [] { return !tasks.empty() || left == 0; });
    if (left == 0) return;
    auto task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    lock.lock();
    if (--left == 0) changed.notify_all();
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(work);
  for (int i = 0; i < 12; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_back([i] { usleep(200), results[i] += i; });
    changed.notify_one();
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return left == 0; });
  for (int result : results) use(result);
  lock.unlock();
  for (auto& thread : threads) thread.join();
  return 0;
}
