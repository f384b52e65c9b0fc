// Where try_lock fails, the thread counts that in an atomic.
#include "program.h"

#include <atomic>
#include <mutex>
#include <thread>

std::mutex mutex;
int value;
std::atomic<int> misses{0};

static void body() {
  for (int i = 0; i < 100; ++i) {
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    if (lock) value += i;
    if (!lock || i == 50) lock = {}, misses += 1;
    usleep(5);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return misses == 0;
}
