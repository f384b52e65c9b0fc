// A std::binary_semaphore used as a lock.
#include "program.h"

#include <semaphore>
#include <thread>

std::binary_semaphore gate(1);
long value;

static void body() {
  for (int i = 0; i < 100; ++i) {
    gate.acquire();
    value += i;
    gate.release();
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return value == 0;
}
