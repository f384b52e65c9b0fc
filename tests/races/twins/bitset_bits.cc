// Two threads set different bits of a bitset.
#include "twin.h"

#include <bitset>
#include <mutex>

static std::mutex mutex;
static std::bitset<64> bits;

static void* body(void* number) {
  for (int i = 0; i < 3; ++i) {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    bits.set(2 * (size_t)i + (size_t)(long)number);  // RACE
  }
  return nullptr;
}

int main() {
  run_threads(2, body);
  use((long)bits.count());
  return 0;
}
