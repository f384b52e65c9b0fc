// std::call_once is left by an exception the first time, and done the second time.
#include "twin.h"

#include <mutex>

static std::once_flag once;
static int value, tries;

static void make() {
  if (++tries == 1) throw 1;
  value = 5;
}

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  try {
    std::call_once(once, make);
  } catch (int) {
    if (RACY) value = 4;  // RACE
    return nullptr;
  }
  use(value);  // RACE
  return nullptr;
}

int main() {
  run_threads(3, body);
  return 0;
}
