// A thread makes a thread and changes what it reads, without joining it first.
#include "program.h"

#include <thread>

int value = 1;

int main() {
  std::thread outer([] {
    value = 2;
    std::thread inner([] { use(value); });  // RACE
    value = 3;                              // RACE
    inner.join();
  });
  outer.join();
  return value != 3;
}
