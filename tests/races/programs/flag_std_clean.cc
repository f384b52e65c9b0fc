// The flag is set with release after the text is written.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> ready{0};
char text[16];

int main() {
  std::thread producer([] {
    for (int i = 0; i < 15; ++i) text[i] = static_cast<char>('a' + i);
    ready.store(1, std::memory_order_release);
  });
  while (ready.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  use(text[14]);
  producer.join();
  return 0;
}
