// An event count over a futex: consumers that announce themselves before they sleep miss no item of
// a lock-free list.
#include <linux/futex.h>
#include "program.h"

#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> epoch{0}, sleepers{0}, items{0}, taken{0};

static bool take() {
  for (int now = items; now > 0;) {
    if (items.compare_exchange_weak(now, now - 1)) return true;
  }
  return false;
}

static void give(int count) {
  items += count;
  ++epoch;
  if (sleepers > 0) syscall(SYS_futex, &epoch, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

static void consume(int total) {
  while (taken < total) {
    if (take()) {
      if (++taken == total) give(0);
      continue;
    }
    ++sleepers;
    int seen = epoch;
    if (items == 0 && taken < total)
      syscall(SYS_futex, &epoch, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    --sleepers;
  }
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  constexpr int kTotal = 200;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back([] { consume(kTotal); });
  for (int given = 0; given < kTotal; given += 4) {
    give(4);
    if (given % 40 == 0) sleep_ms(1);
  }
  for (auto& thread : running) thread.join();
  CHECK_EQ(taken, kTotal);
  CHECK_EQ(items, 0);
  std::printf("taken %d\n", taken.load());
}
