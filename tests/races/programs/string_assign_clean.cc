// One thread assigns short texts to a std::string and the other copies it, both under a mutex.
#include "program.h"

#include <mutex>
#include <string>
#include <thread>

std::string name = "nobody";
std::mutex mutex;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      name[0] = static_cast<char>('a' + i % 26);
    }
  });
  std::thread reader([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      std::string copy = name;
      use(copy[0]);
    }
  });
  writer.join();
  reader.join();
  return 0;
}
