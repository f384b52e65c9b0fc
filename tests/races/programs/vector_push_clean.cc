// Two threads append to one vector under a mutex.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

std::vector<int> items;
std::mutex mutex;

static void body() {
  for (int i = 0; i < 100; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    items.push_back(i);
  }
}

int main() {
  items.reserve(1000);
  std::thread one(body), two(body);
  one.join();
  two.join();
  return items.empty();
}
