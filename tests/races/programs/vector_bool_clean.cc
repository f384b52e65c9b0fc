// Two threads set different elements of a vector<char>: bytes are objects of their own.
#include "program.h"

#include <thread>
#include <vector>

std::vector<char> marks(64);

static void body(int first) {
  for (int i = first; i < 64; i += 2) marks[i] = true;
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return !marks[0];
}
