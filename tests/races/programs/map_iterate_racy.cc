// One thread asks a std::map for its size, without the lock, while another inserts.
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
      names[i] = i;  // RACE
    }
  });
  for (int i = 0; i < 10; ++i) {
    use((long)names.size());  // RACE
  }
  inserter.join();
  return 0;
}
