// One thread iterates over a std::map while another inserts, both under the lock for as long as it takes.
#include "program.h"

#include <map>
#include <mutex>
#include <thread>

std::map<int, long> names;
std::mutex mutex;

int main() {
  std::thread inserter([] {
    for (int i = 0; i < 30; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      names[i] = i;
    }
  });
  for (int i = 0; i < 10; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto& [key, value] : names) use(key + value);
  }
  inserter.join();
  return 0;
}
