// std::to_chars writes into one buffer.
#include <charconv>
#include <thread>

#include "twin.h"

static char digits[32];

int main() {
  auto body = [](int value) {
    char own[32];
    char* where = RACY ? digits : own;
    use(std::to_chars(where, where + 32, value).ptr - where);  // RACE
    use(where[2]);
  };
  std::thread one(body, 123456), two(body, 654321);
  one.join();
  two.join();
  return 0;
}
