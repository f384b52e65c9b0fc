// Constructors and destructors count how many objects there are.
#include "twin.h"

#include <atomic>

#if RACY
using Count = int;
#else
using Count = std::atomic<int>;
#endif

struct Counted {
  static inline Count alive = 0;
  Counted() { alive++; }   // RACE
  ~Counted() { alive--; }  // RACE
};

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  Counted one, two;
  use((long)&one + (long)&two);
  return nullptr;
}

int main() {
  run_threads(2, body);
  return 0;
}
