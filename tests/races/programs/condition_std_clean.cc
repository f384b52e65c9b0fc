// The worker writes the result under the mutex, before it notifies.
#include "program.h"

#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool done = false;
int result;

int main() {
  std::thread worker([] {
    result = 42;
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
    }
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return done; });
  }
  use(result);
  worker.join();
  return 0;
}
