// Each lambda captures a local of its own by reference; they are added after the joins.
#include "program.h"

#include <thread>

int main() {
  long first = 0, second = 0;
  auto body = [](long& total) {
    for (int i = 0; i < 500; ++i) {
      total += i;
      use(i);
    }
  };
  std::thread one([&] { body(first); }), two([&] { body(second); });
  one.join();
  two.join();
  return first + second == 0;
}
