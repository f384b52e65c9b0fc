// A worker waits until it is to stop. The flag is set without the lock, between the worker's look
// at it and its wait.
#include "planted.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::atomic<bool> stops;

static void work() {
  std::unique_lock held(mutex);
  while (!stops) changed.wait(held);
}

int main() {
  std::thread worker(work);
  {
    FIX(std::lock_guard held(mutex);)
    stops = true;
    changed.notify_one();
  }
  worker.join();
  return 0;
}
