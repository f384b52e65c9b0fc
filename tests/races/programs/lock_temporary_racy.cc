// The lock_guard is a temporary without a name, which is gone at the end of its line.
#include "program.h"

#include <mutex>
#include <thread>

std::mutex mutex;
int value;

static void body() {
  for (int i = 0; i < 100; ++i) {
    (void)std::unique_lock<std::mutex>(mutex);
    value += i;  // RACE
    use(i);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return value == 0;
}
