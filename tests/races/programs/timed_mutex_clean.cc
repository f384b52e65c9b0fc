// std::timed_mutex: try_lock_for with a long patience, and its result is looked at. gcc's tsan does not know
// pthread_mutex_clocklock, which that calls.
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
    value = 1;
  });
  pause_ms(2);
  bool locked = mutex.try_lock_for(std::chrono::seconds(5));
  if (locked) value = 2;
  if (locked) mutex.unlock();
  holder.join();
  return 0;
}
