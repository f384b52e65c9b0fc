// A sequence lock whose data are plain: that the reader throws away what it read too early does not make reading it no
// race.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<unsigned> sequence{0};
int data[2];

static void write(int value) {
  unsigned now = sequence.load(std::memory_order_relaxed);
  sequence.store(now + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  data[0] = value, data[1] = -value;  // RACE
  sequence.store(now + 2, std::memory_order_release);
}

int main() {
  std::thread writer([] {
    for (int i = 0; i < 100; ++i) write(i), usleep(10);
  });
  for (int i = 0; i < 100; ++i) {
    unsigned before = sequence.load(std::memory_order_acquire);
    int sum = data[0] + data[1];  // RACE
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before && sum != 0) abort();
    usleep(10);
  }
  writer.join();
  return 0;
}
