// std::notify_all_at_thread_exit lets the lock go behind the thread's last writes.
#include "twin.h"

#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static bool done;
static int last;

int main() {
  std::thread thread([] {
    std::unique_lock<std::mutex> lock(mutex);
    done = true;
    if (RACY) {
      lock.unlock();
      condition.notify_all();
    } else {
      std::notify_all_at_thread_exit(condition, std::move(lock));
    }
    pause_ms(10);
    last = 2;  // RACE
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait(lock, [] { return done; });
  }
  use(last);  // RACE
  thread.join();
  return 0;
}
