// Threads get one variable by std::ref, or a copy each.
#include <functional>
#include <thread>
#include <vector>

#include "twin.h"

static void add(std::vector<int>& sums) { sums[0]++; }  // RACE
static void add_own(std::vector<int> sums) { sums[0]++, use(sums[0]); }

int main() {
  std::vector<int> sums(2);
  std::thread one, two;
  if (RACY) {
    one = std::thread(add, std::ref(sums));
    two = std::thread(add, std::ref(sums));
  } else {
    one = std::thread(add_own, sums);
    two = std::thread(add_own, sums);
  }
  one.join();
  two.join();
  use(sums[0]);
  return 0;
}
