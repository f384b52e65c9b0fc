// Two threads insert into one map; the second starts some milliseconds later, so that it does not crash, but nothing
// orders them.
#include "program.h"

#include <map>
#include <thread>

std::map<int, long> words;

static void body(int number) {
  pause_ms(number * 10);
  for (int i = 0; i < 20; ++i) words[number * 100 + i] = i;  // RACE
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  return words.empty();
}
