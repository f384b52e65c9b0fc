// Both sides use std::atomic_store and std::atomic_load on the shared_ptr; libstdc++ does so by mutexes of its own.
#include "program.h"

#include <memory>
#include <thread>

auto current = std::make_shared<int>(0);

int main() {
  std::thread writer([] {
    for (int i = 0; i < 30; ++i) {
      std::atomic_store(&current, std::make_shared<int>(i));
      usleep(20);
    }
  });
  for (int i = 0; i < 30; ++i) {
    use(*std::atomic_load(&current));
    usleep(20);
  }
  writer.join();
  return 0;
}
