// A static local is initialized once and safely, and then only read.
#include "program.h"

#include <thread>

struct Registry {
  Registry() {
    for (int i = 0; i < 8; ++i) entries[i] = i;
  }
  int entries[8];
};

static Registry& registry() {
  static Registry only;
  return only;
}

static void body() {
  for (int i = 0; i < 100; ++i) { use(registry().entries[i % 8]); }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
