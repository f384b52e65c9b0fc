// Both append and length are under the mutex.
#include "program.h"

#include <mutex>
#include <string>
#include <thread>

std::string text;
std::mutex mutex;

int main() {
  text.reserve(500);
  std::thread writer([] {
    for (int i = 0; i < 50; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      text += 'a';
      use(i);
    }
  });
  for (int i = 0; i < 50; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    use((long)text.size());
  }
  writer.join();
  return 0;
}
