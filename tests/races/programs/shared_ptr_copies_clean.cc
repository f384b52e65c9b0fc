// Each thread copies and drops its own shared_ptr; the counts are atomic, and what is owned is only read.
#include "program.h"

#include <memory>
#include <thread>

int main() {
  auto shared = std::make_shared<int>(7);
  auto body = [](std::shared_ptr<int> own) {
    for (int i = 0; i < 100; ++i) {
      auto copy = own;
      use(*copy);
    }
  };
  std::thread one(body, shared), two(body, shared);
  shared.reset();
  one.join();
  two.join();
  return 0;
}
