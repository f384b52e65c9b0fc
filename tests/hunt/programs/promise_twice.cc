// Two threads keep the same promise; the loser's std::future_error ends the program.
#include <atomic>
#include <future>
#include <thread>

#include "planted.h"

static std::promise<int> promise;
static std::atomic<bool> is_kept{false};

static void keep(int value) {
#ifdef FIXED
  if (is_kept.exchange(true)) return;
#else
  if (is_kept.load()) return;
  is_kept.store(true);
#endif
  promise.set_value(value);
}

int main() {
  std::thread a(keep, 1), b(keep, 2);
  a.join();
  b.join();
  return 0;
}
