// A relaxed flag with a release fence before the store and an acquire fence after the load. gcc's tsan knows no
// fences: it reports a race.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> ready{false};
int payload;

int main() {
  std::thread consumer([] {
    while (!ready.load(std::memory_order_relaxed)) usleep(100);
    std::atomic_thread_fence(std::memory_order_acquire);
    use(payload);
  });
  pause_ms(1);
  payload = 5;
  std::atomic_thread_fence(std::memory_order_release);
  ready.store(true, std::memory_order_relaxed);
  consumer.join();
  return 0;
}
