// Two lambdas capture one local by reference and add to it unsynchronized.
#include "program.h"

#include <thread>

int main() {
  long total = 0;
  auto body = [&total] {
    for (int i = 0; i < 500; ++i) {
      total += i;  // RACE
      use(i);
    }
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  return total == 0;
}
