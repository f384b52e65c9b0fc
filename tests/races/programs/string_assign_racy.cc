// One thread assigns short texts to a std::string while the other looks at its first character.
#include "program.h"

#include <mutex>
#include <string>
#include <thread>

std::string name = "nobody";

int main() {
  std::thread writer([] {
    for (int i = 0; i < 100; ++i) {
      name[0] = static_cast<char>('a' + i % 26);  // RACE
    }
  });
  std::thread reader([] {
    for (int i = 0; i < 100; ++i) {
      use(name[0]);  // RACE
    }
  });
  writer.join();
  reader.join();
  return 0;
}
