// Three std::threads increment one int under a lock_guard of the same std::mutex.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

int counter;
std::mutex mutex;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 300; ++j) {
        std::lock_guard<std::mutex> lock(mutex);
        counter += j;
        use(j);
      }
    });
  for (auto& thread : threads) thread.join();
  return counter == 0;
}
