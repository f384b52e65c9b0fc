// Each thread has its own shared_ptr, but what they all own is written without a lock.
#include "program.h"

#include <memory>
#include <thread>

int main() {
  auto shared = std::make_shared<int>(7);
  auto body = [](std::shared_ptr<int> own) {
    auto copy = own;  // changing the count may order the threads: not while they use the object
    pause_ms(3);
    for (int i = 0; i < 100; ++i) {
      *copy += 1;  // RACE
    }
    pause_ms(3);
  };
  std::thread one(body, shared), two(body, shared);
  shared.reset();
  one.join();
  two.join();
  return 0;
}
