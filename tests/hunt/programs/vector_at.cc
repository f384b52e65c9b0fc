// The size of a vector is read under its lock, and the last element is read under it later: it may
// be gone, and std::out_of_range ends the program.
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

static std::mutex mutex;
static std::vector<int> values = {1, 2, 3};

static void read_last() {
  std::unique_lock<std::mutex> guard(mutex);
  const size_t size = values.size();
  BUG(guard.unlock(); guard.lock();)
  if (size) (void)values.at(size - 1);
}

static void shorten() {
  std::lock_guard<std::mutex> guard(mutex);
  values.pop_back();
}

int main() {
  std::thread a(read_last), b(shorten);
  a.join();
  b.join();
  return 0;
}
