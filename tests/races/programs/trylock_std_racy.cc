// Where try_lock fails, the thread counts that in a plain variable, as the other one does.
#include "program.h"

#include <atomic>
#include <mutex>
#include <thread>

std::mutex mutex;
int value;
int misses;

static void body() {
  for (int i = 0; i < 100; ++i) {
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    if (lock) value += i;
    if (!lock || i == 50) lock = {}, misses += 1;  // RACE
    usleep(5);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return misses == 0;
}
