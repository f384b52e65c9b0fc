// A std::queue of unique_ptrs under a mutex: ownership moves with the pointer.
#include "program.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

std::mutex mutex;
std::condition_variable more;
std::queue<std::unique_ptr<int>> queue;

int main() {
  std::thread consumer([] {
    for (int i = 0; i < 10; ++i) {
      std::unique_lock<std::mutex> lock(mutex);
      more.wait(lock, [] { return !queue.empty(); });
      auto item = std::move(queue.front());
      queue.pop();
      lock.unlock();
      *item += 1;
    }
  });
  for (int i = 0; i < 10; ++i) {
    auto item = std::make_unique<int>(i);
    mutex.lock();
    queue.push(std::move(item));
    mutex.unlock();
    more.notify_one();
  }
  consumer.join();
  return 0;
}
