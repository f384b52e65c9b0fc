// One thread changes a value in a std::map under a lock, the other looks it up without.
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
      map.find(i % 16)->second = i;  // RACE
    }
  });
  std::thread finder([] {
    for (int i = 0; i < 100; ++i) {
      use(map.find(i % 16)->second);  // RACE
    }
  });
  changer.join();
  finder.join();
  return 0;
}
