// A std::counting_semaphore that lets two in at a time guards nothing that is written.
#include "program.h"

#include <semaphore>
#include <thread>

std::counting_semaphore<2> gate(2);
long value;

static void body() {
  for (int i = 0; i < 100; ++i) {
    gate.acquire();
    value += i;  // RACE
    usleep(10);
    gate.release();
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return value == 0;
}
