// Each thread copies and drops its own shared_ptr; the counts are atomic, and what is owned is only read.
#include "program.h"

#include <memory>
#include <thread>

int main() {
  auto shared = std::make_shared<int>(7);
  auto body = [](std::shared_ptr<int> own) {
    auto copy = own;  // changing the count may order the threads: not while they use the object
    pause_ms(3);
    for (int i = 0; i < 100; ++i) { use(*copy); }
    pause_ms(3);
  };
  std::thread one(body, shared), two(body, shared);
  shared.reset();
  one.join();
  two.join();
  return 0;
}
