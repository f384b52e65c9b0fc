// A thread iterates over a reference to the vector, which it took under the lock, after the lock is gone.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

std::vector<int> prices(40, 3);
std::mutex mutex;

int main() {
  std::thread updater([] {
    for (int i = 0; i < 40; ++i) {
      mutex.lock();
      prices[i] = i;  // RACE
      mutex.unlock();
      usleep(100);
    }
  });
  std::thread reader([] {
    pause_ms(1);
    std::unique_lock<std::mutex> lock(mutex);
    std::vector<int>& seen = prices;
    lock.unlock();
    pause_ms(1);
    for (int price : seen) use(price);  // RACE
  });
  updater.join();
  reader.join();
  return 0;
}
