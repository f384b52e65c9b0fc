// A volatile counter advanced by two threads: volatile makes no addition atomic.
#include "program.h"

#include <thread>

volatile long ticks;

int main() {
  auto body = [](int number) {
    for (int i = 0; i < 200; ++i) {
      ticks = ticks + 1;  // RACE
      use(number);
    }
  };
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return ticks == 0;
}
