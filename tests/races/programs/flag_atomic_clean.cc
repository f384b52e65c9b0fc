// A std::atomic flag is set with release after the payload is written, and read with acquire.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> there{false};
long payload[3];

int main() {
  std::thread reader([] {
    while (!there.load(std::memory_order_acquire)) usleep(50);
    for (long word : payload) use(word);
  });
  for (long& word : payload) word = 3;
  there.store(true, std::memory_order_release);
  reader.join();
  return 0;
}
