// Two threads put elements at the front of a list.
#include <forward_list>
#include <mutex>
#include <thread>

#include "twin.h"

int main() {
  std::forward_list<int> list;
  std::mutex mutex;
  auto body = [&] {
    for (int i = 0; i < 4; ++i) {
      std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
      if (!RACY) lock.lock();
      list.push_front(i);  // RACE
    }
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
