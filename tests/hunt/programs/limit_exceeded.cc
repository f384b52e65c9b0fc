// Each operation is atomic, and the limit is not kept: a load, a comparison, and then an addition.
#include <atomic>
#include <thread>

#include "planted.h"

static std::atomic<int> users{0}, most{0};
static constexpr int kLimit = 1;

static bool enter() {
#ifdef FIXED
  int now = users.load();
  while (now < kLimit)
    if (users.compare_exchange_weak(now, now + 1)) return true;
  return false;
#else
  if (users.load() >= kLimit) return false;
  users.fetch_add(1);
  return true;
#endif
}

static void use() {
  if (!enter()) return;
  if (users.load() > most.load()) most.store(users.load());
  users.fetch_sub(1);
}

int main() {
  std::thread a(use), b(use);
  a.join();
  b.join();
  REQUIRE(most.load() <= kLimit);
  return 0;
}
