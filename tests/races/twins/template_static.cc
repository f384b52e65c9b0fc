// A static member of a template is one variable for each type.
#include "twin.h"

template <typename T>
struct Counter {
  static inline int value = 0;
  static void count() { value += 1; }  // RACE
};

static void* one(void*) {
  Counter<int>::count();
  return nullptr;
}

static void* two(void*) {
  pause_ms(5);
  if (RACY) Counter<int>::count();
  else Counter<long>::count();
  return nullptr;
}

int main() {
  run_two(one, two);
  use(Counter<int>::value);
  return 0;
}
