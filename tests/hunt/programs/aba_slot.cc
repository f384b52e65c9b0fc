// Claims a slot by comparing its owner; the slot was given back and claimed again in between, for
// another item.
#include <atomic>
#include <thread>

#include "planted.h"

static std::atomic<int> version{0};
static std::atomic<int> slot{1}, item{10};

static void take_and_put() {
  if (slot.exchange(0) == 0) return;
  item.store(item.load() + 10);
  version.fetch_add(1);
  slot.store(1);
}

static void claim() {
  FIX(const int before = version.load();)
  const int seen = item.load();
  int expected = 1;
  if (!slot.compare_exchange_strong(expected, 0)) return;
  FIX(if (version.load() != before) return;)
  REQUIRE(item.load() == seen);
}

int main() {
  std::thread a(claim), b(take_and_put);
  a.join();
  b.join();
  return 0;
}
