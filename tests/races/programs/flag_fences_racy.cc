// A relaxed flag with a release fence before the store, but no fence after the load: nothing is acquired.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> ready{false};
int payload;

int main() {
  std::thread consumer([] {
    while (!ready.load(std::memory_order_relaxed)) usleep(100);
    use(payload);  // RACE
  });
  pause_ms(1);
  payload = 5;  // RACE
  std::atomic_thread_fence(std::memory_order_release);
  ready.store(true, std::memory_order_relaxed);
  consumer.join();
  return 0;
}
