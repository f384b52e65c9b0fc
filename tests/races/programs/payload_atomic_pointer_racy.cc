// The pointer is swapped atomically all the time; both threads write to whatever it points to.
#include "program.h"

#include <atomic>
#include <thread>

int cells[2];
std::atomic<int*> target{&cells[0]};

static void body() {
  for (int i = 0; i < 100; ++i) {
    target.store(&cells[i % 2]);
    *target.load() = i;  // RACE
  }
  cells[0] = 1;  // RACE
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
