// Which member a thread counts in is a pointer to member.
#include "twin.h"

struct Pair {
  int first = 0, second = 0;
};
static Pair pair;
static int Pair::*const members[2] = {&Pair::second, RACY ? &Pair::second : &Pair::first};

static void* body(void* number) {
  int Pair::*const member = members[(long)number];
  for (int i = 0; i < 3; ++i) pair.*member += 1;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(pair.first + pair.second);
  return 0;
}
