// A latch for three parts. A part that finds its work done already counts all the same.
#include "planted.h"

#include <atomic>
#include <latch>
#include <thread>

static std::latch parts(3);
static std::atomic<int> next, done;

static void work() {
  for (int i = 0; i < 2; i++) {
    const int part = next++;
    if (part < 3) done++;
    FIX(if (part < 3)) if (part < 4) parts.count_down(part == 3 && done > 2 ? 0 : 1);
  }
}

int main() {
  std::thread one(work), two(work);
  parts.wait();
  REQUIRE(done == 3);
  one.join();
  two.join();
  return 0;
}
