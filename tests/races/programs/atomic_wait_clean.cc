// atomic::wait with acquire wakes up after a store with release.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> ready{0};
char text[8];

int main() {
  std::thread reader([] {
    ready.wait(0, std::memory_order_acquire);
    use(text[0]);
  });
  pause_ms(1);
  text[0] = 'x';
  ready.store(1, std::memory_order_release);
  ready.notify_one();
  reader.join();
  return 0;
}
