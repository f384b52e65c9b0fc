// A function object is replaced while another thread calls it.
#include <functional>
#include <mutex>
#include <thread>

#include "twin.h"

static std::function<int(int)> convert = [](int value) { return value + 1; };
static std::mutex mutex;

static void call() {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  use(convert(3));  // RACE
}

static void replace() {
  pause_ms(3);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  convert = [](int value) { return value * 2; };  // RACE
}

int main() {
  std::thread one(call), other(replace);
  one.join();
  other.join();
  return 0;
}
