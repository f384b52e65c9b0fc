// With condition_variable_any over a shared_mutex, the waiters only read under their shared locks.
#include "program.h"

#include <condition_variable>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
std::condition_variable_any changed;
bool open = false;
int level = 1;

static void waiter() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  changed.wait(lock, [] { return open; });
  use(level);
}

int main() {
  std::thread one(waiter), two(waiter);
  pause_ms(3);
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    open = true;
    level = 2;
  }
  changed.notify_all();
  one.join();
  two.join();
  return 0;
}
