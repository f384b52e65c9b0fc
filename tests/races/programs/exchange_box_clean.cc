// Boxes change hands by an atomic exchange with acquire and release: each has one owner at any time.
#include "program.h"

#include <atomic>
#include <thread>

int boxes[3];
std::atomic<int*> shared{&boxes[2]};

static void body(int number) {
  int* own = &boxes[number];
  for (int i = 0; i < 100; ++i) {
    *own += i;
    own = shared.exchange(own, std::memory_order_acq_rel);
  }
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return 0;
}
