// std::timed_mutex: the result of try_lock_for is not looked at.
#include "program.h"

#include <chrono>
#include <mutex>
#include <thread>

std::timed_mutex mutex;
int value;

int main() {
  std::thread holder([] {
    std::lock_guard<std::timed_mutex> lock(mutex);
    pause_ms(10);
    value = 1;  // RACE
  });
  pause_ms(2);
  bool locked = mutex.try_lock_for(std::chrono::milliseconds(1));
  value = 2;  // RACE
  if (locked) mutex.unlock();
  holder.join();
  return 0;
}
