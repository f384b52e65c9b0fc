// Two threads append to one vector; enough room was reserved, so that it never moves, but its end and its elements
// race.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

std::vector<int> items;

static void body() {
  for (int i = 0; i < 100; ++i) {
    items.push_back(i);  // RACE
  }
}

int main() {
  items.reserve(1000);
  std::thread one(body), two(body);
  one.join();
  two.join();
  return items.empty();
}
