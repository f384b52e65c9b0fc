// A priority queue's top is looked at without the lock.
#include "twin.h"

#include <mutex>
#include <queue>

static std::mutex mutex;
static std::priority_queue<int> queue;

static void* producer(void*) {
  for (int i = 0; i < 6; ++i) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      queue.push(i);  // RACE
    }
    pause_ms(2);
  }
  return nullptr;
}

static void* watcher(void*) {
  for (int i = 0; i < 6; ++i) {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    if (!queue.empty()) use(queue.top());  // RACE
    if (lock) lock.unlock();
    pause_ms(2);
  }
  return nullptr;
}

int main() {
  queue.push(1);
  run_two(producer, watcher);
  return 0;
}
