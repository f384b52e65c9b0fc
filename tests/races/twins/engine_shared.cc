// Two threads draw from one random engine.
#include <mutex>
#include <random>

#include "twin.h"

static std::mutex mutex;
static std::minstd_rand engine(5);

static void* draw(void* unused) {
  for (int i = 0; i < 5; ++i) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    use(static_cast<long>(engine()));  // RACE
  }
  return unused;
}

int main() {
  run_two(draw, draw);
  return 0;
}
