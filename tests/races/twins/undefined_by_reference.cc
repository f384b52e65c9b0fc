// A function that is inlined stores through its reference only where it returns true.
#include <thread>

#include "twin.h"

int shared = 5;
bool may_look = RACY;
static struct {
  bool has_value;
  int value;
} seen;

static inline bool try_get(int& value) {
  if (!may_look) return false;
  value = shared;  // RACE
  return true;
}

int main() {
  std::thread thread([] {
    int value;
    const bool has_value = try_get(value);
    seen = {has_value, value};
  });
  shared = 7;  // RACE
  thread.join();
  use(seen.has_value);
  return 0;
}
