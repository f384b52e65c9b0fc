// Two threads set different elements of a vector<bool>: they share a word, so that they race.
#include "program.h"

#include <thread>
#include <vector>

std::vector<bool> marks(64);

static void body(int first) {
  for (int i = first; i < 64; i += 2) marks[i] = true;  // RACE
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return !marks[0];
}
