// A thread makes a thread, joins it, and then changes what it read.
#include "program.h"

#include <thread>

int value = 1;

int main() {
  std::thread outer([] {
    value = 2;
    std::thread inner([] { use(value); });
    inner.join();
    value = 3;
  });
  outer.join();
  return value != 3;
}
