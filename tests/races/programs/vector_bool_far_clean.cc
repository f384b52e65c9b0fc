// The border between the parts of a vector<bool> lies between two words: each thread writes words of its own.
#include "program.h"

#include <thread>
#include <vector>

std::vector<bool> marks(256);
enum { kBorder = 128 };

static void body(int from, int to) {
  for (int i = from; i < to; ++i) marks[i] = !marks[i];
}

int main() {
  std::thread one(body, 0, kBorder), two(body, kBorder, 256);
  one.join();
  two.join();
  return !marks[0];
}
