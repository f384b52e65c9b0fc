// A function gives the halves of its array by reference to a thread and to itself.
#include "program.h"

#include <array>
#include <thread>

static void fill(int* from, int* to, int wait, int step) {
  pause_ms(wait);
  for (int* value = from; value != to; ++value) *value += step;
}

static int work() {
  std::array<int, 300> values{};
  std::thread thread(fill, values.data(), values.data() + 150, 20, 1);
  fill(values.data() + 150, values.data() + 300, 0, 2);
  pause_ms(40);
  thread.join();
  return values[7];
}

int main() { return work() > 9; }
