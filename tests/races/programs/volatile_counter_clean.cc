// A volatile counter of which each thread has its own; main adds them after the joins.
#include "program.h"

#include <thread>

volatile long ticks[2];

int main() {
  auto body = [](int number) {
    for (int i = 0; i < 200; ++i) {
      ticks[number] = ticks[number] + 1;
      use(number);
    }
  };
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return ticks[0] + ticks[1] != 400;
}
