// Two threads write the two halves of a vector; the first one goes one element too far.
#include "program.h"

#include <thread>
#include <vector>

std::vector<int> values(200);

static void fill(int from, int to) {
  for (int i = from; i < to; ++i) values[i] = i;  // RACE
}

int main() {
  std::thread one(fill, 0, 101), two(fill, 100, 200);
  one.join();
  two.join();
  return values[199] != 199;
}
