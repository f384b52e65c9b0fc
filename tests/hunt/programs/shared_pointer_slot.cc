// A shared pointer in a variable that one thread sets and others copy: the pointer is atomic in
// its counts only.
#include "planted.h"

#include <memory>

static std::shared_ptr<int> slot;

static void* read_slot(void* unused) {
  FIX(lock();)
  std::shared_ptr<int> mine = slot;
  FIX(unlock();)
  REQUIRE(*mine == 5);
  return unused;
}

static void* set_slot(void* unused) {
  auto fresh = std::make_shared<int>(5);
  FIX(lock();)
  slot = fresh;
  FIX(unlock();)
  return unused;
}

int main() {
  slot = std::make_shared<int>(5);
  RUN(read_slot, set_slot);
  return 0;
}
