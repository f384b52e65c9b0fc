// One thread appends to a std::string whose memory was reserved; another reads its length.
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
      text += 'a';  // RACE
      use(i);
    }
  });
  for (int i = 0; i < 50; ++i) {
    use((long)text.size());  // RACE
  }
  writer.join();
  return 0;
}
