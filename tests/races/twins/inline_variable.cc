// An inline static member, counted with or without its lock.
#include <mutex>
#include <thread>

#include "twin.h"

struct Counters {
  static inline long total = 0;
  static inline std::mutex mutex;
  static void add(long value) {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    total += value;  // RACE
  }
};

int main() {
  std::thread one(Counters::add, 2), two(Counters::add, 3);
  one.join();
  two.join();
  use(Counters::total);
  return 0;
}
