// An entry is looked up under the lock and used after it, when it may have been erased.
#include <map>
#include <string>

#include "planted.h"

static std::map<int, std::string> names{{1, "the first of all names"}, {2, "another long name"}};

static void* use(void* unused) {
  lock();
  const auto found = names.find(1);
  const bool is_there = found != names.end();
  BUG(unlock();)
  if (is_there) REQUIRE(found->second.size() > 10);
  FIX(unlock();)
  return unused;
}

static void* erase(void* unused) {
  lock();
  names.erase(1);
  unlock();
  return unused;
}

int main() {
  RUN(use, erase);
  return 0;
}
