// Two threads insert into maps of their own, which main merges after the joins.
#include "program.h"

#include <map>
#include <thread>

std::map<int, long> words[2];

static void body(int number) {
  pause_ms(number * 10);
  for (int i = 0; i < 20; ++i) words[number][number * 100 + i] = i;
}

int main() {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
  words[0].merge(words[1]);
  return words[0].size() != 40;
}
