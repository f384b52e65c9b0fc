// A reader asks a std::list for its size while a writer appends.
#include "program.h"

#include <list>
#include <mutex>
#include <thread>

std::list<int> numbers;
std::mutex mutex;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 40; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      numbers.push_back(i);  // RACE
      usleep(50);
    }
  });
  for (int i = 0; i < 40; ++i) {
    use(numbers.size());  // RACE
    usleep(50);
  }
  writer.join();
  return 0;
}
