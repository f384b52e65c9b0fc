// Thieves raise the top by a load and a store: two of them take the same item.
#include <atomic>
#include <thread>

#include "planted.h"

static std::atomic<int> top{0}, taken[2];
static constexpr int kItems = 2;

static void steal() {
#ifdef FIXED
  const int mine = top.fetch_add(1);
#else
  const int mine = top.load();
  top.store(mine + 1);
#endif
  if (mine < kItems) REQUIRE(taken[mine].fetch_add(1) == 0);
}

int main() {
  std::thread a(steal), b(steal), c(steal);
  a.join();
  b.join();
  c.join();
  return 0;
}
