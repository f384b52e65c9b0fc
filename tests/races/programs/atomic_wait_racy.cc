// atomic::wait wakes up, but the notifier stores relaxed, so that the text is not ordered.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> ready{0};
char text[8];

int main() {
  std::thread reader([] {
    ready.wait(0, std::memory_order_acquire);
    use(text[0]);  // RACE
  });
  pause_ms(1);
  text[0] = 'x';  // RACE
  ready.store(1, std::memory_order_relaxed);
  ready.notify_one();
  reader.join();
  return 0;
}
