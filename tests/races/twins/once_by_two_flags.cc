// Two functions initialize one table, each by a once_flag of its own.
#include <mutex>

#include "twin.h"

static std::once_flag first_flag, second_flag;
static int table[4];

static void fill() { table[1] = 11; }  // RACE

static void* one(void*) {
  std::call_once(first_flag, fill);
  return nullptr;
}

static void* two(void*) {
  pause_ms(10);
  std::call_once(RACY ? second_flag : first_flag, fill);
  return nullptr;
}

int main() {
  run_two(one, two);
  use(table[1]);
  return 0;
}
