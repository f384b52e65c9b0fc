// One side uses std::atomic_store on the shared_ptr, the other looks at it plainly.
#include "program.h"

#include <memory>
#include <thread>

auto current = std::make_shared<int>(0);

int main() {
  std::thread writer([] {
    for (int i = 0; i < 30; ++i) {
      std::atomic_store(&current, std::make_shared<int>(i));  // RACE
      usleep(20);
    }
  });
  for (int i = 0; i < 30; ++i) {
    use(current != nullptr);  // RACE
    usleep(20);
  }
  writer.join();
  return 0;
}
