// A configuration is replaced while others take it: std::atomic<std::shared_ptr>, or the plain pointer.
#include <atomic>
#include <memory>
#include <thread>

#include "twin.h"

static std::atomic<std::shared_ptr<int>> current{std::make_shared<int>(1)};
static std::shared_ptr<int> plain = std::make_shared<int>(1);

int main() {
  std::thread writer([] {
    for (int i = 0; i < 10; ++i) {
      if (RACY) plain = std::make_shared<int>(i);  // RACE
      else current.store(std::make_shared<int>(i));
    }
  });
  for (int i = 0; i < 10; ++i) {
    std::shared_ptr<int> seen;
    if (RACY) seen = nullptr, use(plain != nullptr);  // RACE
    else seen = current.load(), use(*seen);
  }
  writer.join();
  return 0;
}
