// Each thread has a shared_ptr of its own, but what they point to is one int, which both write.
#include "program.h"

#include <memory>
#include <thread>

int main() {
  auto number = std::make_shared<long>(1);
  auto body = [](std::shared_ptr<long> mine) {
    for (int i = 0; i < 50; ++i) {
      *mine += i;  // RACE
      use(i);
    }
  };
  std::thread one(body, number), two(body, number);
  one.join();
  two.join();
  *number = 0;
  return 0;
}
