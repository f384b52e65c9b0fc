// The mutex is a static of the function: all calls lock the same one.
#include "program.h"

#include <mutex>
#include <thread>

int shared;

static void body() {
  for (int i = 0; i < 200; ++i) {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    shared ^= i;
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
