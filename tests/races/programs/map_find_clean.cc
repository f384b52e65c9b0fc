// Both threads come to the std::map under the lock, and one of them inserts.
#include "program.h"

#include <map>
#include <mutex>
#include <thread>

std::map<int, int> map;
std::mutex mutex;

int main() {
  for (int i = 0; i < 16; ++i) map[i] = i;
  std::thread changer([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      map[i] = i;
    }
  });
  std::thread finder([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      use(map.find(i % 16)->second);
    }
  });
  changer.join();
  finder.join();
  return 0;
}
