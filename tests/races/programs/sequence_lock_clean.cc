// A sequence lock whose data are relaxed atomics. Its fences are unknown to gcc's tsan, but it needs to know of none,
// for no plain data are shared.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<unsigned> sequence{0};
std::atomic<int> data[2];

static void write(int value) {
  unsigned now = sequence.load(std::memory_order_relaxed);
  sequence.store(now + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  data[0].store(value, std::memory_order_relaxed), data[1].store(-value, std::memory_order_relaxed);
  sequence.store(now + 2, std::memory_order_release);
}

int main() {
  std::thread writer([] {
    for (int i = 0; i < 100; ++i) write(i), usleep(10);
  });
  for (int i = 0; i < 100; ++i) {
    unsigned before = sequence.load(std::memory_order_acquire);
    int sum = data[0].load(std::memory_order_relaxed) + data[1].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before && sum != 0) abort();
    usleep(10);
  }
  writer.join();
  return 0;
}
