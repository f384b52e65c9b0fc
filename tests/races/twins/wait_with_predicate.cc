// A predicate that the waiter's condition asks; the racy one is set without the lock.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "twin.h"

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;

int main() {
  std::thread thread([] {
    pause_ms(2);
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    ready = true;  // RACE
    if (!RACY) lock.unlock();
    condition.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  while (!condition.wait_for(lock, std::chrono::milliseconds(50), [] { return ready; })) {  // RACE
  }
  lock.unlock();
  thread.join();
  return 0;
}
