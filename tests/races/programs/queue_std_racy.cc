// A std::queue of raw pointers under a mutex; the producer looks into the object that it has handed over.
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
      int* item = queue.front().release();
      queue.pop();
      lock.unlock();
      *item += 1;  // RACE
    }
  });
  for (int i = 0; i < 10; ++i) {
    auto item = std::make_unique<int>(i);
    int* seen = item.get();
    mutex.lock();
    queue.push(std::move(item));
    mutex.unlock();
    more.notify_one();
    use(*seen);  // RACE
  }
  consumer.join();
  return 0;
}
