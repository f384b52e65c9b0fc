// The mutex is a local of the function, so each call locks a mutex of its own.
#include "program.h"

#include <mutex>
#include <thread>

int shared;

static void body() {
  for (int i = 0; i < 200; ++i) {
    std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    shared ^= i;  // RACE
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
