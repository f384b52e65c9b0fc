// One thread swaps a shared_ptr while another one reads it: counts are atomic, the shared_ptr object itself is not.
#include "program.h"

#include <memory>
#include <mutex>
#include <thread>

auto current = std::make_shared<int>(1);

int main() {
  std::thread writer([] {
    for (int i = 0; i < 20; ++i) {
      auto next = std::make_shared<int>(i);
      current.swap(next);  // RACE
      usleep(50);
    }
  });
  for (int i = 0; i < 20; ++i) {
    use(current.get() != nullptr);  // RACE
    usleep(50);
  }
  writer.join();
  return 0;
}
