// With condition_variable_any over a shared_mutex, the waiters only read under their shared locks.
#include "program.h"

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
std::condition_variable_any changed;
bool opened = false;
int level = 1;

static void waiter() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  changed.wait(lock, [] { return opened; });
  use(level);
}

int main() {
  std::thread one(waiter), two(waiter);
  pause_ms(3);
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    opened = true;
    level = 2;
  }
  changed.notify_all();
  one.join();
  two.join();
  return 0;
}
