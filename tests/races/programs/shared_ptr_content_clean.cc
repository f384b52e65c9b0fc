// Each thread has a shared_ptr of its own, and the one int they point to is only read until both have let go.
#include "program.h"

#include <memory>
#include <thread>

int main() {
  auto number = std::make_shared<long>(1);
  auto body = [](std::shared_ptr<long> mine) {
    for (int i = 0; i < 50; ++i) {
      std::shared_ptr<long> copy = mine;
      use(*copy);
      use(i);
    }
  };
  std::thread one(body, number), two(body, number);
  one.join();
  two.join();
  *number = 0;
  return 0;
}
