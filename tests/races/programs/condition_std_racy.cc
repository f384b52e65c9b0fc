// The worker notifies first and writes the result after it has let go of the mutex; main reads it as soon as it wakes.
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
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
    }
    changed.notify_one();
    result = 42;  // RACE
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return done; });
  }
  use(result);  // RACE
  worker.join();
  return 0;
}
