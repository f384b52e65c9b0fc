// The pointer is swapped atomically all the time; what it points to is atomic, too.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> cells[2];
std::atomic<std::atomic<int>*> target{&cells[0]};

static void body() {
  for (int i = 0; i < 100; ++i) {
    target.store(&cells[i % 2]);
    *target.load() = i;
  }
  cells[0] = 1;
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
