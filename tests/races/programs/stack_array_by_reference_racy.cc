// A function gives its array by reference to a thread and goes on filling it.
#include "program.h"

#include <array>
#include <functional>
#include <thread>

static void fill(std::array<int, 300>& values, int wait, int step) {
  pause_ms(wait);
  for (int& value : values) value += step;  // RACE
}

static int work() {
  std::array<int, 300> values{};
  std::thread thread(fill, std::ref(values), 20, 1);
  fill(values, 0, 2);
  pause_ms(40);
  thread.join();
  return values[7];
}

int main() { return work() > 9; }
