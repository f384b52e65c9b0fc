// The counts of a shared_ptr are atomic, the pointer itself is not: it is copied while another
// thread resets it, and the copy counts in a control block that is gone.
#include <memory>

#include "planted.h"

static std::shared_ptr<int> current = std::make_shared<int>(7);

static void* copy(void* unused) {
  FIX(lock();)
  const std::shared_ptr<int> mine = current;
  FIX(unlock();)
  if (mine) REQUIRE(*mine == 7 || *mine == 8);
  return unused;
}

static void* replace(void* unused) {
  FIX(lock();)
  current = std::make_shared<int>(8);
  FIX(unlock();)
  return unused;
}

int main() {
  RUN(copy, replace);
  return 0;
}
