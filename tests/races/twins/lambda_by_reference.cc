// Two lambdas have one local variable by reference.
#include <atomic>
#include <thread>

#include "twin.h"

int main() {
#if RACY
  int sum = 0;
#else
  std::atomic<int> sum = 0;
#endif
  std::thread one([&] { sum += 1; });  // RACE
  std::thread two([&] { sum += 2; });  // RACE
  one.join();
  two.join();
  use(sum);
  return 0;
}
