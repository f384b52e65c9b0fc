// The lock_guard has a name and lives until the end of the block.
#include "program.h"

#include <mutex>
#include <thread>

std::mutex mutex;
int value;

static void body() {
  for (int i = 0; i < 100; ++i) {
    std::unique_lock<std::mutex> lock(mutex);
    value += i;
    use(i);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return value == 0;
}
