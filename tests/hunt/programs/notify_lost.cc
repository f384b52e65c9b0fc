// std::condition_variable: the notification comes between the test and the wait.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "planted.h"

static std::mutex mutex;
static std::condition_variable condition;
static bool is_done;

int main() {
  std::thread waiter([] {
    std::unique_lock<std::mutex> guard(mutex);
#ifdef FIXED
    condition.wait(guard, [] { return is_done; });
#else
    const bool must_wait = !is_done;
    guard.unlock();
    guard.lock();
    if (must_wait) condition.wait(guard);
#endif
  });
  std::thread notifier([] {
    std::lock_guard<std::mutex> guard(mutex);
    is_done = true;
    condition.notify_one();
  });
  waiter.join();
  notifier.join();
  return 0;
}
