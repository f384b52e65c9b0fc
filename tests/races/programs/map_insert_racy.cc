// A thread looks a key up in a std::map while another, under a lock that the reader does not take, changes the value.
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
      table.find(i)->second = i;  // RACE
    }
  });
  for (int i = 0; i < 20; ++i) {
    use(table.find(i)->second);  // RACE
  }
  writer.join();
  return 0;
}
