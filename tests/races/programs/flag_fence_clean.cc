// The flag is relaxed, and a release fence before its store and an acquire fence after its load order the payload.
// gcc's ThreadSanitizer does not know fences.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> flag{0};
int payload;

int main() {
  std::thread reader([] {
    while (!flag.load(std::memory_order_relaxed)) usleep(50);
    std::atomic_thread_fence(std::memory_order_acquire);
    use(payload);
  });
  payload = 1;
  std::atomic_thread_fence(std::memory_order_release);
  flag.store(1, std::memory_order_relaxed);
  reader.join();
  return 0;
}
