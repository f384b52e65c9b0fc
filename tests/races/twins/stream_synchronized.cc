// Threads write to one stream: through synchronized streams, or right to it.
#include <sstream>
#include <syncstream>
#include <thread>

#include "twin.h"

int main() {
  std::ostringstream text;
  auto write = [&](int number) {
    for (int i = 0; i < 5; ++i) {
      if (RACY) text << number << '\n';  // RACE
      else std::osyncstream(text) << number << '\n';
    }
  };
  std::thread one(write, 1), two(write, 2);
  one.join();
  two.join();
  use(static_cast<long>(text.str().size()));
  return 0;
}
