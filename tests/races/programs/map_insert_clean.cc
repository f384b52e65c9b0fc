// Look-up and change of the std::map are under the same lock.
#include "program.h"

#include <map>
#include <mutex>
#include <thread>

std::map<int, int> table;
std::mutex mutex;

int main() {
  for (int i = 0; i < 20; ++i) table[i] = 0;
  std::thread writer([] {
    for (int i = 0; i < 20; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      table.find(i)->second = i;
    }
  });
  for (int i = 0; i < 20; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    use(table.find(i)->second);
  }
  writer.join();
  return 0;
}
