// A weak reference looks whether the count is above nought and raises it in a second step.
#include <atomic>
#include <thread>

#include "planted.h"

static std::atomic<int> strong{1}, is_alive{1};

static bool upgrade() {
#ifdef FIXED
  int now = strong.load();
  while (now > 0)
    if (strong.compare_exchange_weak(now, now + 1)) return true;
  return false;
#else
  if (strong.load() == 0) return false;
  strong.fetch_add(1);
  return true;
#endif
}

static void release() {
  if (strong.fetch_sub(1) == 1) is_alive = 0;
}

int main() {
  std::thread user([] {
    if (!upgrade()) return;
    REQUIRE(is_alive.load());
    release();
  });
  std::thread owner(release);
  user.join();
  owner.join();
  return 0;
}
