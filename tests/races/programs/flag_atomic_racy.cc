// A std::atomic flag is set before the payload is written: what it tells is not true yet.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> there{false};
long payload[3];

int main() {
  std::thread reader([] {
    while (!there.load(std::memory_order_acquire)) usleep(50);
    for (long word : payload) use(word);  // RACE
  });
  there.store(true, std::memory_order_release);
  for (long& word : payload) word = 3;  // RACE
  reader.join();
  return 0;
}
