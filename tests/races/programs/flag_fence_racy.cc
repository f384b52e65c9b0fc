// The flag is relaxed and only the writer has a fence; without one of the reader's, the payload is not ordered.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> flag{0};
int payload;

int main() {
  std::thread reader([] {
    while (!flag.load(std::memory_order_relaxed)) usleep(50);
    use(payload);  // RACE
  });
  payload = 1;  // RACE
  std::atomic_thread_fence(std::memory_order_release);
  flag.store(1, std::memory_order_relaxed);
  reader.join();
  return 0;
}
