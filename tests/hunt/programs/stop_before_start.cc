// The worker clears the flag that asks it to stop when it starts: a request before that is lost,
// and it goes on for good.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "planted.h"

static std::mutex mutex;
static std::condition_variable asked;
static bool is_stopped;

static void work() {
  std::unique_lock<std::mutex> guard(mutex);
  BUG(is_stopped = false;)
  asked.wait(guard, [] { return is_stopped; });
}

int main() {
  std::thread worker(work);
  {
    std::lock_guard<std::mutex> guard(mutex);
    is_stopped = true;
  }
  asked.notify_all();
  worker.join();
  return 0;
}
