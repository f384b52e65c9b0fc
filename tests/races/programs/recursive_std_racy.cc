// The inner function relies on its callers to hold the recursive mutex; one of them does not.
#include "program.h"

#include <mutex>
#include <thread>

std::recursive_mutex mutex;
long total;

static void inner(int by) {
  total += by;  // RACE
}

static void outer(int by) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  inner(by);
  use(total);
  inner(-by);
}

int main() {
  std::thread one([] {
    for (int i = 0; i < 100; ++i) outer(i);
  });
  std::thread two([] {
    for (int i = 0; i < 100; ++i) inner(1), use(i);
  });
  one.join();
  two.join();
  return total > 1000;
}
